import { describe, expect, it } from 'vitest'
import type { Attributes } from '../../src/domain/otel/span.ts'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

const scope = { name: 'litellm', version: '1.110.2', attributes: {} }
const callOf = (attributes: Attributes) => toSpanCall(buildSpan({ attributes, scope }), 'a/b')
const usageOf = (attributes: Attributes) => callOf(attributes).end.summary?.usage

/** Spans of LiteLLM's proxy 1.110.2 as recorded, without what is not read. */
const FIRST = {
  'gen_ai.request.model': 'gpt-5',
  'gen_ai.response.model': 'fast',
  'gen_ai.response.id': 'chatcmpl-7',
  'gen_ai.system': 'openai',
  'gen_ai.usage.input_tokens': 2710,
  'gen_ai.usage.output_tokens': 248,
  'gen_ai.usage.total_tokens': 2958,
  'gen_ai.cost.total_cost': 0.00547375,
  'litellm.model_group': 'fast',
  'litellm.provider.model': 'openai/gpt-5',
  'llm.request.type': 'acompletion',
  'metadata.requester_metadata': "{'session_id': 'talk-1', 'headers': {'host': 'a'}, 'n': None}",
  'metadata.user_api_key_end_user_id': 'user-1',
  'metadata.user_api_key_user_id': 'default_user_id',
}
const SECOND = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.conversation.id': 'talk-1',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'fast',
  'gen_ai.response.model': 'fast',
  'gen_ai.usage.input_tokens': 2710,
  'gen_ai.usage.output_tokens': 248,
  'gen_ai.usage.cache_read.input_tokens': 350,
  'litellm.cost.total': 0.00547375,
  'litellm.metadata.user_api_key_end_user_id': 'user-1',
  'litellm.provider.model': 'openai/gpt-5',
  'litellm.request.route': '/v1/chat/completions',
}
const THOUGHT = 'Thought 9 of the provider.'

describe("spans of LiteLLM's proxy", () => {
  it('count for the model behind an alias, with its cost, conversation and end user', () => {
    for (const attributes of [FIRST, SECOND]) {
      const { start } = callOf(attributes)
      expect(start).toMatchObject({ thread_id: 'talk-1', attributes: { user: 'user-1' } })
      expect(usageOf(attributes)).toMatchObject({
        'gpt-5': { prompt_tokens: 2710, completion_tokens: 248, cost: 0.00547375 },
      })
    }
    expect(callOf(SECOND).start.inputs).toMatchObject({ model: 'fast' })
  })

  it('count for the model as it is named where that is no alias, or where no proxy answered', () => {
    const named = { ...SECOND, 'gen_ai.response.model': 'gpt-5' }
    expect(Object.keys(usageOf(named) ?? {})).toEqual(['gpt-5'])
    const other = { ...SECOND, 'litellm.provider.model': 'hosted/meta/llama' }
    expect(Object.keys(usageOf(other) ?? {})).toEqual(['hosted/meta/llama'])
    const { 'litellm.model_group': _group, ...own } = FIRST
    const dated = { ...own, 'gen_ai.response.model': 'gpt-5-2025-08-07' }
    expect(Object.keys(usageOf(dated) ?? {})).toEqual(['gpt-5-2025-08-07'])
  })

  it('leave metadata alone that Python did not print as a dictionary', () => {
    const { start } = callOf({ ...FIRST, 'metadata.requester_metadata': "<object 'a'>" })
    expect(start.thread_id).toBeNull()
    expect(start.attributes).toMatchObject({ metadata: { requester_metadata: "<object 'a'>" } })
  })

  it('have reasoning and calls of tools in their output for Langfuse', () => {
    const output = [
      { role: 'reasoning_summary', content: THOUGHT },
      { id: 'fc_9', name: 'now', call_id: 'call_9', type: 'function_call', arguments: { at: 1 } },
    ]
    const { end } = callOf({
      'openinference.span.kind': 'LLM',
      'langfuse.observation.type': 'generation',
      'langfuse.observation.output': JSON.stringify(output),
      'llm.output_messages.0.message.reasoning_summary': THOUGHT,
    })
    const called = { name: 'now', arguments: '{"at":1}' }
    expect(end.output).toEqual({
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            reasoning_content: THOUGHT,
            tool_calls: [{ id: 'call_9', type: 'function', function: called }],
          },
          finish_reason: null,
        },
      ],
    })
  })

  it("have calls and results of tools in the blocks of Anthropic's messages", () => {
    const blocks = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'now', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'noon' }] },
    ]
    const function_ = { name: 'now', arguments: '{}' }
    const messages = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: function_ }],
      },
      { role: 'tool', content: 'noon', tool_call_id: 'call_1' },
    ]
    const parted = blocks.map(({ role, content }) => ({ role, parts: content }))
    for (const sent of [blocks, parted]) {
      const { start } = callOf({ ...SECOND, 'gen_ai.input.messages': JSON.stringify(sent) })
      expect(start.inputs).toMatchObject({ messages })
    }
  })
})
