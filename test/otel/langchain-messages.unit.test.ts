import { expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

const callOf = (attributes: Record<string, unknown>) =>
  toSpanCall(buildSpan({ attributes }), 'acme/demo')

const constructed = (name: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', name],
  kwargs,
})

const called = { id: 'call_1', name: 'weather', args: { city: 'Paris' }, type: 'tool_call' }
const CALLED = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
}

// Recorded from langsmith[otel] 0.15.1 with langchain-openai 1.7.4, and shortened.
it('a model call of LangSmith has its messages, answer, tokens, session and user', () => {
  const { start, end } = callOf({
    'langsmith.span.kind': 'llm',
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 20,
    'gen_ai.usage.total_tokens': 120,
    'langsmith.metadata.thread_id': 't1',
    'langsmith.metadata.user_id': 'u1',
    'langsmith.metadata.usage_metadata': JSON.stringify({
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      input_token_details: { cache_read: 64 },
      output_token_details: { reasoning: 5 },
    }),
    'gen_ai.prompt': JSON.stringify({
      messages: [
        [
          constructed('SystemMessage', { content: 'Be brief.', type: 'system' }),
          constructed('HumanMessage', { content: 'Weather?', type: 'human' }),
          constructed('AIMessage', { content: '', type: 'ai', tool_calls: [called] }),
          constructed('ToolMessage', { content: 'sunny', type: 'tool', tool_call_id: 'call_1' }),
        ],
      ],
    }),
    'gen_ai.completion': JSON.stringify({
      generations: [
        [
          {
            text: 'It is sunny.',
            generation_info: { finish_reason: 'stop', logprobs: null },
            message: constructed('AIMessage', { content: 'It is sunny.', tool_calls: [] }),
          },
        ],
      ],
    }),
  })
  expect(start.thread_id).toBe('t1')
  expect(start.attributes.user).toBe('u1')
  expect(start.inputs.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: null, tool_calls: [CALLED] },
    { role: 'tool', content: 'sunny', tool_call_id: 'call_1' },
  ])
  const message = { role: 'assistant', content: 'It is sunny.' }
  expect(end.output).toEqual({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
  expect(end.summary).toMatchObject({
    usage: {
      'gpt-4o': {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    },
  })
})

it('an agent whose output begins with the question has one choice, and all messages beside it', () => {
  const run = [
    { type: 'human', content: 'Weather?' },
    { type: 'ai', content: '', tool_calls: [called] },
    { type: 'tool', content: 'sunny', tool_call_id: 'call_1' },
    { type: 'ai', content: 'It is sunny.' },
  ]
  const outputOf = (messages: unknown[]) =>
    callOf({ 'gen_ai.completion': JSON.stringify({ messages }) }).end.output
  const choice = { index: 0, message: { role: 'assistant', content: 'It is sunny.' } }
  expect(outputOf(run)).toMatchObject({
    choices: [choice],
    messages: [{ role: 'user' }, {}, {}, {}],
  })
  const [question, , , answer] = run
  expect(outputOf([question, answer])).toMatchObject({ choices: [choice], messages: [{}, {}] })
})

it('messages of other types are left as they are', () => {
  const content = [{ type: 'robot', content: 'x' }]
  const { start } = callOf({ 'gen_ai.input.messages': JSON.stringify(content) })
  expect(start.inputs.messages).toEqual([{ role: 'user', content: 'x' }])
})

// google-adk 2.13.0, streamed, with gen_ai_latest_experimental.
it('an answer that came as a message for each chunk is one choice', () => {
  const chunk = (content: string, finish_reason: string) => ({
    role: 'assistant',
    parts: [{ type: 'text', content }],
    finish_reason,
  })
  const chunks = [chunk('Hi ', ''), chunk('there', ''), chunk('!', 'stop')]
  const outputOf = (messages: unknown[]) =>
    callOf({ 'gen_ai.output.messages': JSON.stringify(messages) }).end.output
  expect(outputOf(chunks)).toEqual({
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hi there!' }, finish_reason: 'stop' },
    ],
  })
  const choices = [chunk('a', 'stop'), chunk('b', 'stop')]
  expect(outputOf(choices)).toMatchObject({ choices: [{ index: 0 }, { index: 1 }] })
})

// @google/gemini-cli 0.61.0 writes parts as Gemini's API does.
it('a functionCall among parts is a tool call', () => {
  const parts = [{ functionCall: { name: 'weather', args: { city: 'Paris' } } }]
  const { end } = callOf({ 'gen_ai.output.messages': JSON.stringify([{ role: 'model', parts }]) })
  const message = { role: 'assistant', content: null, tool_calls: [{ ...CALLED, id: null }] }
  expect(end.output).toMatchObject({ choices: [{ message }] })
})

// @mastra/core 1.71.0 with @mastra/otel-exporter 1.4.0: requests only under the type of the span.
it('a step of Mastra has its input, session and user', () => {
  const { start } = callOf({
    'gen_ai.operation.name': 'agent_step',
    'mastra.model_step.input': '{"messages":[]}',
    'mastra.metadata.userId': 'u1',
    'mastra.metadata.sessionId': 's1',
  })
  expect(start).toMatchObject({ thread_id: 's1', inputs: { messages: [] } })
  expect(start.attributes.user).toBe('u1')
})

it.each(['enduser.id', 'user.id', 'langfuse.user.id', 'metadata.user_id'])(
  '%s is the user in the attributes',
  (name) => {
    expect(callOf({ [name]: 'Ada L.' }).start.attributes.user).toBe('Ada L.')
  },
)
