import { describe, expect, it } from 'vitest'
import { fillText } from '../../../src/domain/chat/completion-create.ts'
import { variablesIn, withoutVariables } from '../../../src/page/prompts/prompt-draft.ts'

describe('the variables of a prompt', () => {
  it('are the names in single braces, each once', () => {
    const texts = ['Hello {name} of {city}', '{{no}} {name} {not a name} {}', '{{{inner}}}']
    expect(variablesIn(texts)).toEqual(['name', 'city', 'inner'])
  })

  it('are those that the server fills in', () => {
    const text = '{a} {{b}} {{{c}}} {d e} }{f}{'
    const values = Object.fromEntries([...'abcdef'].map((name) => [name, '*']))
    const filled = fillText(text, values)
    for (const name of 'abcdef') {
      const isFilled = fillText(text, { [name]: '*' }) !== fillText(text, {})
      expect([name, variablesIn([text]).includes(name)]).toEqual([name, isFilled])
    }
    expect(filled).toBe('* {b} {*} {d e} }*{')
  })

  it.each(['{a}', '{{a}}', '{{{', '}', 'no { braces } }} {{'])(
    'are not filled in in messages of the conversation: %s',
    (text) => {
      const { content } = withoutVariables({ role: 'user', content: text })
      expect(fillText(String(content), { a: 'x' })).toBe(text)
      const parts = withoutVariables({ role: 'user', content: [{ type: 'text', text }, { n: 1 }] })
      const [part, other] = parts.content as { text: string }[]
      expect([fillText(part?.text ?? '', { a: 'x' }), other]).toEqual([text, { n: 1 }])
    },
  )
})
