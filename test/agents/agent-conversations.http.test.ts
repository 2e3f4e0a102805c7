/** Search in messages, and traces and conversations as chats. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { askAgents, at, buildAgentsApp, PROJECT, traceId } from './agents-fixtures.ts'

let test: TestApp
const ask = (path: string, body: object = {}) => askAgents(test, path, body)

describeEachStore('agents', (build) => {
  beforeEach(async () => {
    test = await buildAgentsApp(build)
  })

  describe('POST /agents/search', () => {
    it('finds messages by conversation, the newest first', async () => {
      const { body } = await ask('search', { query: 'ANSWER', agent_name: 'helper' })
      expect(body.total_conversations).toBe(1)
      const [found] = body.results
      expect(found).toMatchObject({
        conversation_id: 'c1',
        conversation_name: 'talk',
        agent_name: 'helper',
      })
      const shown = found.matched_messages.map(
        ({ role, content_preview, trace_id, span_id }: Record<string, unknown>) => [
          role,
          content_preview,
          trace_id,
          span_id,
        ],
      )
      expect(shown).toEqual([
        ['assistant', 'answer 2', traceId(2), spanId(36)],
        ['assistant', 'answer 2', traceId(2), spanId(33)],
        ['assistant', 'answer 1', traceId(1), spanId(20)],
        ['assistant', 'answer 1', traceId(1), spanId(17)],
      ])
      expect(found.matched_messages[0].content_digest).toMatch(/^[0-9a-f]{64}$/)
    })

    it('within roles, conversations, traces, models and pages', async () => {
      const cases: [string, object, number][] = [
        ['a role', { query: 'tool says', roles: ['tool_result'] }, 2],
        ['tools', { query: '', roles: ['tool'] }, 4],
        ['results among tools', { query: 'tool says', roles: ['tool', 'user'] }, 2],
        ['another role', { query: 'tool says', roles: ['user'] }, 0],
        ['a conversation', { query: 'tool says', conversation_id: 'other' }, 0],
        ['a trace', { query: 'tool says', trace_id: traceId(2) }, 1],
        ['a model', { query: 'what is', request_model: 'gpt-4o-mini' }, 4],
        ['a page', { query: '', offset: 1, limit: 2 }, 2],
      ]
      for (const [title, body, count] of cases) {
        const { results } = (await ask('search', body)).body
        const messages = results.flatMap(
          (each: { matched_messages: object[] }) => each.matched_messages,
        )
        expect(messages, title).toHaveLength(count)
      }
    })
  })

  describe('POST /agents/traces/chat', () => {
    it('shows a trace as a chat, each answer once', async () => {
      const exact = JSON.rawJSON('9007199254740993')
      await test.post('/traces/feedback/create', {
        project_id: PROJECT,
        feedback_type: 'note',
        payload: { note: 'good', exact },
        weave_ref: `weave:///${PROJECT}/call/${spanId(20)}`,
      })
      const { status, body, text } = await ask('traces/chat', {
        trace_id: traceId(1),
        include_feedback: true,
      })
      expect(status).toBe(200)
      expect(text).toContain('"exact":9007199254740993')
      expect(body).toMatchObject({
        trace_id: traceId(1),
        root_span_name: 'helper',
        agent_version: 'v1',
        total_duration_ms: 900,
        total_input_tokens: 300,
        total_output_tokens: 20,
        status_code: 'UNSET',
        feedback: [],
      })
      expect(body.total_cost_usd).toBeCloseTo(0.000057, 9)
      expect(body.messages.map(({ type }: { type: string }) => type)).toEqual([
        ...['user_message', 'agent_start', 'tool_call', 'assistant_message'],
      ])
      const [question, start, tool, answer] = body.messages
      expect(question.user_message).toEqual({ text: 'What is one?', content_refs: [] })
      expect(start).toMatchObject({ agent_name: 'helper', span_id: spanId(17) })
      expect(tool.tool_call).toMatchObject({
        tool_name: 'add',
        tool_arguments: '{"a":1}',
        tool_result: 'tool says 1',
        duration_ms: 100,
      })
      expect(answer).toMatchObject({
        agent_name: 'helper',
        assistant_message: {
          text: 'answer 1',
          model: 'gpt-4o-mini',
          input_tokens: 200,
          output_tokens: 10,
          duration_ms: 300,
        },
        feedback: [{ feedback_type: 'note', payload: { note: 'good' }, scorer_tags: [] }],
      })
    })

    it('shows instructions, tool calls that were not run, and compacted messages', async () => {
      const place = (number: number, attributes: Record<string, unknown>) =>
        buildSpan({
          trace_id: traceId(5),
          span_id: spanId(500 + number),
          attributes,
          parent_span_id: number === 0 ? null : spanId(500),
          start_ns: at(number),
        })
      const asked = [{ type: 'tool_call', id: 't', name: 'look', arguments: { at: 'x' } }]
      const spans = [
        place(0, {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'finder',
          'gen_ai.system_instructions': '[{"type":"text","content":"Be brief."}]',
          'gen_ai.tool.definitions': '[{"type":"function","name":"look"}]',
        }),
        place(1, {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'm',
          'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: asked }]),
        }),
        place(2, {
          'weave.compaction.summary': 'all of it',
          'weave.compaction.items_before': 9,
          'weave.compaction.items_after': 1,
        }),
      ]
      const headers = { project_id: PROJECT }
      await test.post('/v1/traces', toJsonRequest(spans), { headers })
      const tell = async (include_model_tool_calls: boolean) =>
        (await ask('traces/chat', { trace_id: traceId(5), include_model_tool_calls })).body.messages
      const [start, call, compacted, ...others] = await tell(true)
      expect(others).toEqual([])
      expect(start.agent_start).toEqual({
        model: null,
        status: 'UNSET',
        system_instructions: 'Be brief.',
        tool_definitions: '[{"type":"function","name":"look"}]',
      })
      expect(call).toMatchObject({
        agent_name: 'finder',
        span_id: spanId(501),
        tool_call: { tool_name: 'look', tool_arguments: '{"at":"x"}', tool_result: null },
      })
      expect(compacted.context_compacted).toEqual({
        compaction_summary: 'all of it',
        compaction_items_before: 9,
        compaction_items_after: 1,
      })
      expect(await tell(false)).toEqual([start, compacted])
    })

    it('is 404 for a trace without spans', async () => {
      expect((await ask('traces/chat', { trace_id: 'nothing' })).status).toBe(404)
    })
  })

  describe('conversations', () => {
    it('are given in turns, the newest page first', async () => {
      const { body } = await ask('conversations/chat', { conversation_id: 'c1', limit: 1 })
      expect(body).toMatchObject({
        total_turns: 2,
        has_more: true,
        limit: 1,
        offset: 0,
        feedback: null,
      })
      expect(body.turns).toMatchObject([{ trace_id: traceId(2) }])
      const older = await ask('conversations/chat', { conversation_id: 'c1', limit: 1, offset: 1 })
      expect(older.body.turns).toMatchObject([{ trace_id: traceId(1) }])
      expect(older.body.has_more).toBe(false)
      const none = await ask('conversations/chat', { conversation_id: 'other' })
      expect(none.body).toMatchObject({ turns: [], total_turns: 0 })
    })

    it('are given as short spans, with what was marked on them', async () => {
      const weave_ref = `weave:///${PROJECT}/agent_turn/${traceId(2)}`
      const marked = await test.post('/traces/feedback/create', {
        project_id: PROJECT,
        feedback_type: 'wandb.agent_user_feedback',
        weave_ref,
        payload: { emoji: 'x' },
        scorer_tags: ['x'],
      })
      expect(marked.status).toBe(200)
      const { body } = await ask('conversations/spans', { conversation_ids: ['c1', 'other'] })
      const [found, other] = body.conversations
      expect(found.spans).toHaveLength(8)
      expect(found.spans[0]).toEqual({
        trace_id: traceId(1),
        span_id: spanId(17),
        operation_name: 'invoke_agent',
        duration_ms: 900,
        status: 'UNSET',
      })
      expect(found.spans_feedback).toEqual([
        {
          feedback_type: 'wandb.agent_user_feedback',
          trace_id: traceId(2),
          tags: ['x'],
          ratings: [],
        },
      ])
      expect(other).toEqual({ conversation_id: 'other', spans: [], spans_feedback: [] })
    })

    it('are refused with more feedback in all than one answer can hold', async () => {
      const row = { payload_json: '{}', created_at_us: 1, scores_json: null }
      const rows = Array(6000).fill({ ...row, feedback_type: 'wandb.agent_monitor' })
      vi.spyOn(test.deps.feedback, 'listAbout').mockImplementation(async (refs) =>
        refs.map((ref) => (ref.includes('/agent_conversation/') ? rows : [])),
      )
      const one = await ask('conversations/spans', { conversation_ids: ['c1'] })
      expect(one.status).toBe(200)
      const two = await ask('conversations/spans', { conversation_ids: ['c1', 'other'] })
      expect([two.status, two.body.error.message]).toEqual([
        422,
        expect.stringContaining('more feedback than the 10000'),
      ])
    })
  })
})
