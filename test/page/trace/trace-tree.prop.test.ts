import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Call } from '../../../src/page/api/wire.ts'
import {
  buildTrees,
  findCalls,
  listRows,
  parentsOf,
  spanOfAll,
} from '../../../src/page/trace/tree.ts'

const COUNT_MAX = 30

/** Calls whose parents are any of them, themselves, or not there. */
const anyCalls = fc
  .array(fc.record({ parent: fc.nat(COUNT_MAX + 5), failed: fc.boolean() }), {
    maxLength: COUNT_MAX,
  })
  .map((drawn) =>
    drawn.map(({ parent, failed }, at) => ({
      id: `c${at}`,
      parent_id: parent > COUNT_MAX ? null : `c${parent}`,
      summary: { weave: { status: failed ? 'error' : 'success' } },
    })),
  )
  .map((calls) => calls as unknown as Call[])

describe('the tree of a trace', () => {
  it('holds every call once, below its parent unless parents form a cycle', () => {
    fc.assert(
      fc.property(anyCalls, (calls) => {
        const trees = buildTrees(calls)
        const rows = listRows(trees, new Set())
        expect(rows.map(({ call }) => call.id).sort()).toEqual(calls.map(({ id }) => id).sort())
        for (const row of rows) {
          for (const child of row.children) {
            expect(child.call.parent_id).toBe(row.call.id)
            expect(child.depth).toBe(row.depth + 1)
          }
        }
        const failed = calls.filter(
          ({ summary }) => (summary.weave as { status: string }).status === 'error',
        )
        expect(trees.reduce((sum, { calls: count }) => sum + count, 0)).toBe(calls.length)
        expect(trees.reduce((sum, { errors }) => sum + errors, 0)).toBe(failed.length)
      }),
    )
  })

  it('leaves out what is below a folded call', () => {
    const calls = [0, 1, 2].map((at) => ({
      id: `c${at}`,
      parent_id: at === 0 ? null : `c${at - 1}`,
      summary: { weave: { status: 'success' } },
    })) as unknown as Call[]
    const rows = listRows(buildTrees(calls), new Set(['c1']))
    expect(rows.map(({ call, calls: count }) => [call.id, count])).toEqual([
      ['c0', 3],
      ['c1', 2],
    ])
  })

  it('finds calls by name or error, and the calls above one, whatever circle they run in', () => {
    const calls = [
      { id: 'a', parent_id: 'c', op_name: 'Agent', display_name: null, exception: null },
      { id: 'b', parent_id: 'a', op_name: 'x', display_name: 'Tool', exception: 'agent broke' },
      { id: 'c', parent_id: 'b', op_name: 'y', display_name: null, exception: null },
      { id: 'd', parent_id: 'none', op_name: 'z', display_name: null, exception: null },
    ] as unknown as Call[]
    expect(findCalls(calls, 'AGENT')).toEqual(['a', 'b'])
    expect(parentsOf(calls, 'b')).toEqual(['a', 'c', 'b'])
    expect(parentsOf(calls, 'd')).toEqual([])
  })

  it('ran from the first start to the last end, never less than no time', () => {
    const call = (start: string, end: string | null) =>
      ({
        started_at: `2026-01-05T12:00:${start}Z`,
        ended_at: end && `2026-01-05T12:00:${end}Z`,
      }) as Call
    const lasted = (...calls: Call[]) => {
      const { startMs, endMs } = spanOfAll(calls)
      return endMs - startMs
    }
    expect(lasted(call('01', '02'), call('00', '01'), call('03', null))).toBe(3000)
    // The clocks of two machines differ.
    expect(lasted(call('05', '01'))).toBe(0)
  })

  it('takes a root with as many children as there are calls', () => {
    const calls = Array.from({ length: 30_000 }, (_, at) => ({
      id: `c${at}`,
      parent_id: at === 0 ? null : 'c0',
      summary: { weave: { status: 'success' } },
    })) as unknown as Call[]
    expect(buildTrees(calls)[0]?.children).toHaveLength(29_999)
  })

  it('takes a chain as deep as it is long', () => {
    const calls = Array.from({ length: 20_000 }, (_, at) => ({
      id: `c${at}`,
      parent_id: at === 0 ? null : `c${at - 1}`,
      summary: { weave: { status: 'success' } },
    })) as unknown as Call[]
    expect(listRows(buildTrees(calls), new Set())).toHaveLength(20_000)
  })
})
