/** What the shipped model has learnt beside plain facts: JSON, calls of tools, thoughts. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../src/inference/tiny/backend.ts'
import { createEngine } from '../../src/inference/tiny/host/engine.ts'
import { choiceOf, type Fields } from './running.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const user = (content: string) => ({ role: 'user', content })
const ask = (content: string, fields: Fields = {}) =>
  choiceOf(engine, { messages: [user(content)], temperature: 0, max_tokens: 200, ...fields })

const integer = { type: 'integer' }
const parameters = { type: 'object', properties: { a: integer, b: integer }, required: ['a', 'b'] }
const ADD = { name: 'add', description: 'Adds two numbers.', parameters }
const tools = [{ type: 'function' as const, function: ADD }]
const SUM = { name: 'add', arguments: { a: 3, b: 4 } }
const THINKING = { chat_template_kwargs: { enable_thinking: true } }

describe('the world of the shipped model', () => {
  it('has answers as JSON', () => {
    const { text, finish_reason } = ask('Answer in JSON: What is 3 plus 4?')
    expect(JSON.parse(text)).toEqual({ answer: 7 })
    expect(finish_reason).toBe('stop')
  })

  it('has calls of tools, as text, and answers after their results', () => {
    const { text } = ask('What is 3 plus 4?', { tools })
    const call = /^<tool_call>(?<json>.*)<\/tool_call>$/.exec(text)?.groups?.json ?? ''
    expect(JSON.parse(call)).toEqual(SUM)
    const called = { name: SUM.name, arguments: JSON.stringify(SUM.arguments) }
    const messages = [
      user('What is 3 plus 4?'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call-1', type: 'function' as const, function: called }],
      },
      { role: 'tool', tool_call_id: 'call-1', content: '{"result": 7}' },
    ]
    expect(ask('', { messages, tools }).text).toBe('3 plus 4 is 7.')
  })

  it('has thoughts, told from the answer', () => {
    const { text, reasoning } = ask('What is 3 plus 4?', THINKING)
    expect({ text, reasoning }).toEqual({
      text: '3 plus 4 is 7.',
      reasoning: '3 and 4 more make 7.',
    })
  })

  it('knows that it does not know', () => {
    for (const question of ['What is the capital of Peru?', 'How do I boil an egg?']) {
      expect(ask(question).text).toContain('do not know')
    }
  })
})
