/** What the shipped model has learnt beside plain facts: JSON, calls of tools, thoughts. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../src/inference/tiny/backend.ts'
import { createEngine } from '../../src/inference/tiny/host/engine.ts'
import { choiceIn, choiceOf, type Fields, runWaiting } from './running.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const user = (content: string) => ({ role: 'user', content })
const ask = (content: string, fields: Fields = {}) =>
  choiceOf(engine, { messages: [user(content)], temperature: 0, max_tokens: 200, ...fields })

const integer = { type: 'integer' }
const parameters = { type: 'object', properties: { a: integer, b: integer }, required: ['a', 'b'] }
const ADD = { name: 'add', description: 'Adds two numbers.', parameters }
const tools = [{ type: 'function' as const, function: ADD }]
const SUM = { name: 'add', arguments: '{"a": 3, "b": 4}' }
const THINKING = { chat_template_kwargs: { enable_thinking: true } }

describe('the world of the shipped model', () => {
  it('has answers as JSON', () => {
    const { text, finish_reason } = ask('Answer in JSON: What is 3 plus 4?')
    expect(JSON.parse(text)).toEqual({ answer: 7 })
    expect(finish_reason).toBe('stop')
  })

  it('has calls of tools, and answers after their results', async () => {
    const call = async (fields: Fields) =>
      choiceIn(await runWaiting(engine, { temperature: 0, max_tokens: 200, tools, ...fields }))
    const asked = [user('What is 3 plus 4?')]
    const { calls, text, finish_reason } = await call({ messages: asked })
    expect({ text, finish_reason }).toEqual({ text: '', finish_reason: 'tool_calls' })
    expect(calls).toEqual([{ ...SUM, id: expect.stringMatching(/^call_[0-9a-f]{24}$/) }])
    const [{ id = '', name = '', arguments: json = '' } = {}] = calls
    const called = { id, type: 'function' as const, function: { name, arguments: json } }
    const messages = [
      ...asked,
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: id, content: '{"result": 7}' },
    ]
    expect(await call({ messages })).toMatchObject({ text: '3 plus 4 is 7.', calls: [] })
  })

  it('has thoughts, told from the answer', () => {
    const { text, reasoning } = ask('What is 3 plus 4?', THINKING)
    expect({ text, reasoning }).toEqual({
      text: '3 plus 4 is 7.',
      reasoning: '3 and 4 more make 7.',
    })
  })

  it('says that it does not know the answer to an untrained question', () => {
    for (const question of ['What is the capital of Peru?', 'How do I boil an egg?']) {
      expect(ask(question).text).toContain('do not know')
    }
  })
})
