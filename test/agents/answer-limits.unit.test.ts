/** Answers that would be too large are refused, not cut. */
import { expect, it } from 'vitest'
import type { ReadCaller } from '../../src/domain/access/read-caller.ts'
import { type AgentSpan, toAgentSpan } from '../../src/domain/agents/agent-span.ts'
import {
  createDistribution,
  createDistributionEntries,
} from '../../src/domain/agents/groups/span-distributions.ts'
import { createBudget, createMeasure } from '../../src/domain/agents/groups/span-measures.ts'
import { createSpanRows } from '../../src/domain/agents/span-list.ts'
import {
  createConversations,
  createTraceOrder,
  createTurns,
} from '../../src/domain/agents/turns.ts'
import type { CallTexts } from '../../src/domain/calls/call-view.ts'
import { createScoreGroups } from '../../src/domain/feedback/score-groups.ts'
import { createThreadList } from '../../src/domain/threads/thread-list.ts'
import { resolveThreadListing } from '../../src/domain/threads/thread-sums.ts'
import { findChatFeedback } from '../../src/routes/agents/agent-chat.ts'
import type { FeedbackAggregateRequest } from '../../src/schemas/feedback/feedback-stats.ts'
import type { FeedbackStore } from '../../src/store/api/feedback/feedback.ts'

const MIB = 1024 * 1024
const project_id = 'acme/demo'

function spanOf(text: string): AgentSpan {
  return toSpan({}, { code: 0, message: text })
}

function toSpan(attributes: object, status: object = {}): AgentSpan {
  const otel_dump_json = JSON.stringify({ name: 'step', status, attributes })
  const call = { id: 'a', trace_id: 't', started_at_us: 1, inputs_json: '{}', output_json: 'null' }
  return toAgentSpan({ ...call, ended_at_us: 2, otel_dump_json } as CallTexts) as AgentSpan
}
const SPAN = spanOf('')
const MEGABYTE = spanOf('x'.repeat(MIB))

type Add = (index: number) => void

function addSpan({ add }: { add(span: AgentSpan): void }, span = SPAN): Add {
  return () => add(span)
}

function conversations(): Add {
  const answer = createConversations()
  answer.begin('c', ['t'])
  return addSpan(answer)
}

function threads(): Add {
  const list = createThreadList(resolveThreadListing({ project_id }))
  return (index) => {
    // A thread is counted when the next one begins.
    if (index === 0) list.add('before', { id: 'a', started_at_us: 1, ended_at_us: 2 })
    list.add(`t${index}`, { id: 'a', started_at_us: 1, ended_at_us: 2 })
  }
}

function scores(tagsOf: (index: number) => object): Add {
  const request = { time_bucket_seconds: 1, group_by: [], monitor_ids: [], feedback_types: [] }
  const filters = { tags: [], scorer_ids: [], span_agent_names: [], span_types: [] }
  const groups = createScoreGroups({
    ...request,
    ...filters,
  } as unknown as FeedbackAggregateRequest)
  const refs = { weave_ref: 'weave:///a/b/call/c', runnable_ref: null, trigger_ref: null }
  const row = { ...refs, feedback_type: 'note', scores_json: null }
  return (index) => groups.add({ ...row, created_at_us: 1, ...tagsOf(index) })
}

it.each<[string, number, string, () => Add]>([
  ['spans of turns', 10_000, 'limit', () => addSpan(createTurns())],
  ['characters of turns', 15, 'limit', () => addSpan(createTurns(), MEGABYTE)],
  [
    'characters of a page of spans',
    15,
    'limit',
    () => addSpan(createSpanRows({ withDetails: false, attributes: [] }, null), MEGABYTE),
  ],
  ['spans of conversations', 10_000, 'conversation_ids', conversations],
  [
    'traces of conversations',
    100,
    'conversation_ids',
    () => {
      const { begin } = createConversations()
      return (index) => begin(`c${index}`, Array(1000).fill('t'))
    },
  ],
  [
    'traces of one conversation',
    100_000,
    'conversation_id',
    () => {
      const { add } = createTraceOrder()
      return (index) => add(`t${index}`, 1)
    },
  ],
  [
    'values that are kept',
    3,
    'query',
    () => {
      const { take } = createBudget(3)
      return () => take()
    },
  ],
  [
    'blocks of 32 characters of strings that are kept',
    3,
    'query',
    () => {
      const { keep } = createBudget(6)
      return () => keep('x'.repeat(32))
    },
  ],
  [
    'values of distributions',
    100_000,
    'query',
    () => {
      const value = { source: 'custom_attrs_int', key: 'n' } as const
      const distribution = createDistribution(
        { alias: 'd', value, bins: 1, top_n: 1 },
        createBudget(),
      )
      distribution.add(toSpan({ n: 1 }))
      const entries = createDistributionEntries()
      return () => distribution.render(entries)
    },
  ],
  ['threads', 100_000, 'filter', threads],
  [
    'buckets of scores',
    10_000,
    'time_bucket_seconds',
    () => scores((index) => ({ created_at_us: index * 1_000_000 })),
  ],
  [
    'tags of scores',
    100_000,
    'after_ms',
    () => scores((index) => ({ scores_json: JSON.stringify({ scorer_tags: [`t${index}`] }) })),
  ],
])('%s: %d are answered, and one more is refused', (_title, count, param, open) => {
  const add = open()
  for (let index = 0; index < count; index += 1) add(index)
  expect(() => add(count)).toThrow(expect.objectContaining({ code: 'validation_failed', param }))
})

it('feedback about a chat that is more than 10,000 is refused', async () => {
  const rows = Array(5000).fill({ payload_json: '{}', created_at_us: 1, scores_json: null })
  const feedback = { listAbout: async (refs: string[]) => refs.map(() => rows) }
  const find = (refs: string[]) =>
    findChatFeedback(feedback as unknown as FeedbackStore, refs, {} as ReadCaller)
  expect((await find(['a', 'b'])).size).toBe(2)
  await expect(find(['a', 'b', 'c'])).rejects.toThrow('more feedback than the 10000')
})

it('a sum of spans that exceeds a double is reported as the largest double', () => {
  const [sum, mean] = [createMeasure('sum', createBudget()), createMeasure('avg', createBudget())]
  for (const measure of [sum, mean]) for (let time = 0; time < 2; time += 1) measure.add(1.5e308)
  expect(sum.value()).toBe(Number.MAX_VALUE)
  expect(mean.value()).toBe(1.5e308)
})
