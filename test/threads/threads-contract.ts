/** What every store must list of threads, whatever calls it holds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveThreadListing, type ThreadSums } from '../../src/domain/threads/thread-sums.ts'
import type { Stores } from '../../src/store/api/stores.ts'
import { endOf, startOf } from '../store/calls/call-store-contract.ts'
import { readCaller } from '../support/read-caller.ts'

/** Ids that are stored in different ways. */
const THREADS = [
  'talk',
  'a'.repeat(16),
  'b'.repeat(32),
  '0198c1a2-0000-7000-8000-000000000009',
  'é',
]
const CALLS_MAX = 40

const drawnCall = fc.record({
  thread: fc.constantFrom(null, ...THREADS),
  isTurn: fc.constantFrom(true, true, true, false),
  from: fc.nat(9),
  /** Where clocks disagree, before the start. Null: still runs. */
  to: fc.option(fc.nat(12)),
  isDeleted: fc.constantFrom(false, false, false, true),
})
type DrawnCall = typeof drawnCall extends fc.Arbitrary<infer T> ? T : never

const second = fc.nat(12)
const drawnRequest = fc.record({
  limit: fc.option(fc.nat(6)),
  offset: fc.option(fc.nat(3)),
  after: fc.option(second),
  before: fc.option(second),
  sort: fc.constantFrom<readonly (readonly [keyof ThreadSums, 'asc' | 'desc'])[]>(
    [],
    [['last_updated', 'desc']],
    [
      ['last_updated', 'desc'],
      ['thread_id', 'desc'],
    ],
    [['last_updated', 'asc']],
    [
      ['turn_count', 'desc'],
      ['start_time', 'asc'],
    ],
  ),
})
type DrawnRequest = typeof drawnRequest extends fc.Arbitrary<infer T> ? T : never

const START_MS = Date.UTC(2026, 0, 31, 12)
const at = (seconds: number) => new Date(START_MS + 1000 * seconds).toISOString()
const us = (seconds: number) => 1000 * (START_MS + 1000 * seconds)

/** The same by a plain reading of all calls. */
function naiveThreads(calls: readonly DrawnCall[], request: DrawnRequest) {
  const threads = THREADS.flatMap((thread_id) => {
    const turns = calls.filter(
      ({ thread, isTurn, isDeleted }) => thread === thread_id && isTurn && !isDeleted,
    )
    if (turns.length === 0) return []
    const start_time = us(Math.min(...turns.map(({ from }) => from)))
    const last_updated = us(Math.max(...turns.map(({ from, to }) => to ?? from)))
    return [{ thread_id, turn_count: turns.length, start_time, last_updated }]
  })
  const { sort, limit, offset, after, before } = request
  const terms = [...(sort.length > 0 ? sort : [['last_updated', 'desc'] as const])]
  const order = [...terms, ['thread_id', 'asc'] as const]
  return threads
    .filter(({ start_time }) => after === null || start_time > us(after))
    .filter(({ last_updated }) => before === null || last_updated < us(before))
    .sort((left, right) => {
      for (const [field, direction] of order) {
        const [one, other] = [left, right].map((each) => each[field as keyof typeof each])
        if (one !== other) return one! < other! === (direction === 'asc') ? -1 : 1
      }
      return 0
    })
    .slice(offset ?? 0, limit === null ? undefined : (offset ?? 0) + limit)
}

/**
 * @param create - empty stores that close themselves when the test ends
 * @param runs - fewer where each statement is dear
 */
export function describeThreadStoreContract(
  name: string,
  create: () => Promise<Pick<Stores, 'calls' | 'threads'>>,
  runs = 20,
): void {
  async function write(
    { calls }: Pick<Stores, 'calls'>,
    project_id: string,
    drawn: readonly DrawnCall[],
  ) {
    const idOf = (index: number) => `call-${index}`
    await calls.writeParts(
      drawn.map(({ thread, isTurn, from, to }, index) => {
        const id = idOf(index)
        const ids = { project_id, id, thread_id: thread, turn_id: isTurn ? id : 'other' }
        return {
          start: startOf({ ...ids, started_at: at(from) }),
          end: to === null ? null : endOf({ project_id, id, ended_at: at(to) }),
        }
      }),
    )
    const ids = drawn.flatMap(({ isDeleted }, index) => (isDeleted ? [idOf(index)] : []))
    if (ids.length > 0) await calls.deleteCalls({ project_id, ids, deleted_at_us: us(100) })
  }

  describe(`${name} keeps the ThreadStore contract`, () => {
    it('lists as a plain reading of all calls does', async () => {
      const stores = await create()
      let projects = 0
      const property = fc.asyncProperty(
        fc.array(drawnCall, { maxLength: CALLS_MAX }),
        fc.array(drawnRequest, { minLength: 6, maxLength: 6 }),
        async (drawn, requests) => {
          const project_id = `acme/p${++projects}`
          await write(stores, project_id, drawn)
          for (const request of requests) {
            const listing = resolveThreadListing({
              project_id,
              limit: request.limit,
              offset: request.offset,
              filter: {
                after_datetime: request.after === null ? null : at(request.after),
                before_datetime: request.before === null ? null : at(request.before),
              },
              sort_by: request.sort.map(([field, direction]) => ({ field, direction })) as never,
            })
            const listed = await stores.threads.listThreads(listing, readCaller())
            expect(
              listed.map(({ thread_id, turn_count, start_time, last_updated }) => {
                return { thread_id, turn_count, start_time, last_updated }
              }),
            ).toEqual(naiveThreads(drawn, request))
          }
        },
      )
      await fc.assert(property, { numRuns: runs })
    })
  })
}
