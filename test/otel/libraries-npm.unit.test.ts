import { expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { recordedSpans } from './otel-fixtures.ts'

const callsOf = (library: string) =>
  recordedSpans(`../recorded/${library}`).map((span) => toSpanCall(span, 'acme/demo'))

/** Input, cached, written and output tokens of each call. */
function countsOf(library: string): unknown[] {
  return callsOf(library).map(({ end }) => {
    const [usage] = Object.values(end.summary?.usage as Record<string, Record<string, unknown>>)
    const cached = usage?.prompt_tokens_details as { cached_tokens: number } | undefined
    return [
      usage?.prompt_tokens,
      cached?.cached_tokens,
      usage?.cache_creation_input_tokens,
      usage?.completion_tokens,
    ]
  })
}

const WRITTEN = [
  [2104, 308, 514, 170],
  [2205, 315, 525, 183],
  [2306, 322, 536, 196],
]
const UNWRITTEN = WRITTEN.map(([input, cached, , output]) => [input, cached, undefined, output])

it.each([
  ['openinference-bedrock-npm', WRITTEN],
  ['openinference-anthropic-npm', WRITTEN],
  ['openinference-openai-responses-npm', WRITTEN],
  ['langfuse-responses-npm', WRITTEN],
  ['openinference-langchain-responses-npm', UNWRITTEN],
  ['ai-sdk-legacy-npm', UNWRITTEN],
])('counts what the provider reported, once, of %s', (library, counts) => {
  expect(countsOf(library)).toEqual(counts)
})

it("reads LangChain's answers out of its output where the messages have nothing but a role", () => {
  const [plain, tool] = callsOf('openinference-langchain-responses-npm')
  expect(plain?.end.output).toMatchObject({
    choices: [{ message: { role: 'assistant', content: 'Answer 1 of the provider.' } }],
  })
  expect(tool?.end.output).toMatchObject({
    choices: [{ message: { tool_calls: [{ id: 'call_2', function: { name: 'get_weather' } }] } }],
  })
})

it('reads a result of a tool that has the role of the user as one of the tool', () => {
  const [, , result] = callsOf('openinference-anthropic-npm')
  expect(result?.start.inputs).toMatchObject({
    messages: [{}, {}, { role: 'tool', tool_call_id: 'call_2', content: 'It is sunny in Paris.' }],
  })
})

it("reads the conversation and the user in the runtime context of the Vercel AI SDK's spans", () => {
  for (const { start } of callsOf('ai-sdk-legacy-npm')) {
    expect(start.thread_id).toBe('talk-1')
    expect(start.attributes).toMatchObject({ user: 'user-1' })
  }
})
