import { describe, expect, it } from 'vitest'
import {
  addedUsage,
  chooseCounting,
  countUsage,
  ownUsage,
} from '../../src/domain/usage/own-usage.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'

type Counts = Record<string, unknown>

function reportOf(counts: Counts) {
  const [report] = readUsage({ usage: { m: counts } })
  if (!report) throw new Error('no usage')
  return report
}

/** Input, output and total of what a call used itself. */
function own(parent: Counts, nested: Counts) {
  const used = ownUsage(reportOf(parent), addedUsage(reportOf(nested)))
  return used && [used.input_tokens, used.output_tokens, used.total_tokens, used.requests]
}

describe('what a call used itself', () => {
  it.each([
    [
      'its report less what it repeats',
      { requests: 3, prompt_tokens: 10, completion_tokens: 5 },
      { requests: 2, prompt_tokens: 7, completion_tokens: 5 },
      [3, 0, 3, 1],
    ],
    [
      'nothing where it repeats all',
      { requests: 2, prompt_tokens: 7 },
      { requests: 2, input_tokens: 7 },
      null,
    ],
    [
      'its report without requests',
      { prompt_tokens: 5 },
      { requests: 1, prompt_tokens: 2 },
      [5, 0, 5, 1],
    ],
    [
      'its report with fewer requests',
      { requests: 1, prompt_tokens: 9 },
      { requests: 2, prompt_tokens: 4 },
      [9, 0, 9, 1],
    ],
    [
      'its report with fewer tokens of one kind',
      { requests: 2, prompt_tokens: 9, completion_tokens: 1 },
      { requests: 2, prompt_tokens: 4, completion_tokens: 2 },
      [9, 1, 10, 2],
    ],
    [
      'its report less requests that were told',
      { requests: 1, prompt_tokens: 9 },
      { prompt_tokens: 4 },
      [5, 0, 5, 1],
    ],
    [
      'its report where children report nothing',
      { requests: 1, prompt_tokens: 9 },
      { requests: 0 },
      [9, 0, 9, 1],
    ],
  ])('is %s', (_title, parent, nested, expected) => {
    expect(own(parent, nested)).toEqual(expected)
  })

  it('is never below zero where the vendors of children count their caches differently', () => {
    const parent = reportOf({
      requests: 2,
      prompt_tokens: 5,
      input_tokens: 10,
      cache_read_input_tokens: 4,
    })
    const inside = addedUsage(reportOf({ requests: 1, prompt_tokens: 5 }))
    const beside = addedUsage(
      reportOf({ requests: 1, input_tokens: 10, cache_read_input_tokens: 4 }),
    )
    const nested = {
      ...inside,
      requests: 2,
      input_tokens: 15,
      uncached_input_tokens: 15,
      total_tokens: 15,
      cache_read_input_tokens: beside.cache_read_input_tokens,
    }
    expect(parent.uncached_input_tokens).toBe(11)
    expect(ownUsage(parent, nested)).toBeNull()
  })

  it('is told beside the report where it is another', () => {
    const parent = reportOf({ requests: 2, prompt_tokens: 9 })
    expect(countUsage(parent, null).map(({ counts }) => counts)).toEqual([0])
    const child = addedUsage(reportOf({ requests: 1, prompt_tokens: 4 }))
    const rows = countUsage(parent, child)
    expect(rows.map(({ counts, input_tokens }) => [counts, input_tokens])).toEqual([
      [1, 9],
      [2, 5],
    ])
    expect(countUsage(reportOf({ requests: 1, prompt_tokens: 4 }), child)).toHaveLength(1)
  })
})

describe('the counting of a question', () => {
  it.each([
    [null, {}, 'own'],
    [null, { trace_ids: ['t'], thread_ids: ['h'], svc_user_ids: ['u'] }, 'own'],
    [null, { op_names: [], trace_roots_only: false }, 'own'],
    [null, { op_names: ['a'] }, 'reported'],
    [null, { trace_roots_only: true }, 'reported'],
    [null, { call_ids: ['a'] }, 'reported'],
    [null, { parent_ids: ['a'] }, 'reported'],
    [null, { input_refs: ['a'] }, 'reported'],
    [undefined, { output_refs: ['a'] }, 'reported'],
    ['own', { op_names: ['a'] }, 'own'],
    ['reported', {}, 'reported'],
  ] as const)('%s over %o is %s', (asked, filter, expected) => {
    expect(chooseCounting(asked, structuredClone(filter) as never)).toBe(expected)
  })
})
