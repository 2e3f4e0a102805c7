/** Text to ids and back, and that only the template's own text makes control tokens. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { ModelFileError } from '../../../src/inference/tiny/model/gguf.ts'
import { createChatPrompt } from '../../../src/inference/tiny/text/chat-prompt.ts'
import { createTextAssembler } from '../../../src/inference/tiny/text/text-assembler.ts'
import { codePoint } from '../../support/code-point.ts'
import { promptOf } from '../running.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const { tokenizer, prompt } = engine
const SPECIALS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']

const anyText = fc.string({ unit: codePoint, maxLength: 200 })
/** Text that is full of control texts and parts of them. */
const nastyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...SPECIALS, '<|im_', 'start|>', '<', '|', '<|', '<|im_end|', '>', '\ue000'),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

function decode(ids: readonly number[]): string {
  const text = createTextAssembler(tokenizer, { areSkipped: false, areSpaced: false })
  return ids.map((id) => text.push(id)).join('') + text.flush()
}

describe('the tokenizer', () => {
  it('gives back any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(decode(tokenizer.encode(text))).toBe(text)
      }),
    )
  })

  it('gives back text that holds control texts, without a control token', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        const ids = tokenizer.encode(text)
        expect(ids.some((id) => tokenizer.isControl(id))).toBe(false)
        expect(decode(ids)).toBe(text)
      }),
    )
  })

  it('gives back a byte order mark', () => {
    expect(decode(tokenizer.encode('\ufeffa'))).toBe('\ufeffa')
  })

  it('reads half characters as U+FFFD', () => {
    expect(decode(tokenizer.encode('a\ud800b'))).toBe('a\ufffdb')
  })

  it('takes long runs', () => {
    // With quadratic time for the first text the test would time out.
    const runs = ['a'.repeat(300_000), ' '.repeat(50_000), '9'.repeat(50_000), 'ä'.repeat(20_000)]
    for (const run of runs) expect(decode(tokenizer.encode(run)) === run).toBe(true)
  })

  it('joins common words and spells numbers digit by digit', () => {
    expect(tokenizer.encode('opposite').length).toBeLessThan(5)
    expect(tokenizer.encode('12')).toEqual([...tokenizer.encode('1'), ...tokenizer.encode('2')])
  })
})

describe('a prompt', () => {
  it('has exactly the control tokens of the template, whatever the messages say', () => {
    const message = fc.record({ role: nastyText, content: nastyText })
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (messages) => {
        const ids = prompt.encode(promptOf(messages))
        const controls = ids.filter((id) => tokenizer.isControl(id))
        const [, start, end] = SPECIALS.map((text) => tokenizer.controlId(text))
        expect(controls).toEqual([...messages.flatMap(() => [start, end]), start])
        const said = messages.map(({ role, content }) => {
          const name = role === 'developer' ? 'system' : role
          return `<|im_start|>${name}\n${content}<|im_end|>\n`
        })
        expect(decode(ids)).toBe(`${said.join('')}<|im_start|>assistant\n`)
      }),
    )
  })

  it('has no control token that message and template make up together', () => {
    const source = '{% for m in messages %}{{ m.content }}|im_end|><|im_end|>{% endfor %}'
    const ids = createChatPrompt(source, tokenizer, 99).encode(
      promptOf([{ role: 'user', content: '<' }]),
    )
    expect(decode(ids)).toBe('<|im_end|><|im_end|>')
    expect(ids.filter((id) => tokenizer.isControl(id))).toHaveLength(1)
  })

  it('is refused with the field when the template does not take it', () => {
    const source = "{{ raise_exception('Roles must alternate') }}"
    const make = () => createChatPrompt(source, tokenizer, 99).encode(promptOf([]))
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_value', param: 'messages' }))
    expect(() => createChatPrompt('{% for %}', tokenizer, 99)).toThrow(ModelFileError)
  })

  it('shows the model a developer message as a system message', () => {
    const as = (role: string) => prompt.encode(promptOf([{ role, content: 'Be kind.' }]))
    expect(as('developer')).toEqual(as('system'))
    expect(as('function')).not.toEqual(as('tool'))
  })

  it('can leave the answer unopened', () => {
    const open = prompt.encode(promptOf([{ role: 'user', content: 'Hi' }]))
    const bare = prompt.encode(
      promptOf([{ role: 'user', content: 'Hi' }], { addGenerationPrompt: false }),
    )
    expect(open.slice(0, bare.length)).toEqual(bare)
    expect(decode(open.slice(bare.length))).toBe('<|im_start|>assistant\n')
  })

  it('shows tool calls as JSON', () => {
    const calls = [{ type: 'function', function: { name: 'add<|im_end|>', arguments: '{}' } }]
    const ids = prompt.encode(
      promptOf([{ role: 'assistant', content: '', tool_calls: calls }], {
        addGenerationPrompt: false,
      }),
    )
    expect(decode(ids)).toContain('"name": "add<|im_end|>"')
    expect(ids.filter((id) => tokenizer.isControl(id))).toHaveLength(2)
  })

  it('is refused early when it cannot fit', () => {
    const messages = [{ role: 'user', content: 'x'.repeat(1_000_000) }]
    expect(() => prompt.encode(promptOf(messages))).toThrow('maximum context length is 2048 tokens')
  })
})
