import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../../src/domain/query/query-expression.ts'
import { createMatcher } from '../../../src/domain/query/query-matcher.ts'
import { queryOfSearch } from '../../../src/page/calls/search/search-query.ts'
import { parseSearch } from '../../../src/page/calls/search/search-text.ts'

const CALLS: Readonly<Record<string, object>> = {
  mini: {
    op_name: 'weave:///a/b/op/answer:1a',
    svc_username: 'hana',
    inputs: { question: 'Why "now"?', n: 3 },
    feedback: { 'weft.tag': { id: 'f', payload: { tag: 'slow' } } },
    summary: {
      usage: { 'gpt-4o-mini': {} },
      weave: { latency_ms: 2500, status: 'error', tree_total_tokens: 900 },
    },
  },
  large: {
    op_name: 'answers',
    display_name: 'Nightly run',
    svc_username: 'hannes',
    inputs: { question: 'When?', n: '3' },
    summary: {
      usage: { 'not-gpt-4o': {} },
      weave: { latency_ms: 900, status: 'descendant_error', tree_total_cost: 0.5 },
    },
  },
}

function findCalls(text: string): string[] {
  const fields = new Set([
    'op_name',
    'display_name',
    'svc_username',
    'inputs',
    'output',
    'summary',
    'feedback',
  ])
  const { conditions } = queryOfSearch(parseSearch(text).conditions)
  const valueAt = (call: unknown, path: readonly string[]) =>
    path.reduce((at, part) => (at as Record<string, unknown> | undefined)?.[part], call)
  const all = conditions.map(($expr) => createMatcher(parseQuery({ $expr }, { fields })))
  return Object.keys(CALLS).filter((id) =>
    all.every((matches) => matches((path) => valueAt(CALLS[id], path))),
  )
}

describe('the query of a search', () => {
  it.each([
    ['', ['mini', 'large']],
    ['status:error', ['mini']],
    ['-status:error', ['large']],
    ['status:error,descendant_error', ['mini', 'large']],
    ['status:descendant_error', ['large']],
    ['tree-tokens>=900', ['mini']],
    ['tree-tokens>900', []],
    ['tree-cost>$0.1', ['large']],
    ['latency>2s', ['mini']],
    ['latency<=900ms', ['large']],
    ['op:ANSWER', ['mini', 'large']],
    ['op=answer', ['mini']],
    ['op:night*', ['large']],
    ['op="Nightly run"', ['large']],
    ['model:gpt*', ['mini']],
    ['model:*4o', ['large']],
    ['model:*4o*', ['mini', 'large']],
    ['model=gpt-4o-mini', ['mini']],
    ['user:hana', ['mini']],
    ['user:han*', ['mini', 'large']],
    ['user:hana,hannes', ['mini', 'large']],
    ['"why \\"now"', ['mini']],
    ['-input:when', ['mini']],
    ['inputs.question:w*n', ['mini', 'large']],
    ['inputs.n=3', ['mini', 'large']],
    ['inputs.n>=3', ['mini']],
    ['tag:slow', ['mini']],
    ['tag:s*', ['mini']],
    ['-tag:slow', ['large']],
    ['-tag:none', ['mini', 'large']],
    ['model:gpt* latency>3s', []],
  ])('finds by %s', (text, ids) => expect(findCalls(text)).toEqual(ids))

  it('looks ids up in the filter, but patterns and excluded ones by a condition', () => {
    const { filter, conditions } = queryOfSearch(
      parseSearch('thread:t1,t2 -thread:t3 end-user:u* id:x ref:r').conditions,
    )
    expect(filter).toEqual({ thread_ids: ['t1', 't2'], call_ids: ['x'], input_refs: ['r'] })
    expect(conditions).toHaveLength(2)
  })
})
