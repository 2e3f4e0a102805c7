import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type CallParts,
  resolveCallEnd,
  resolveCallStart,
} from '../../src/domain/calls/new-call.ts'
import { toColumns } from '../../src/domain/stats/metric-names.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { readCaller } from '../support/read-caller.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const DEFAULTS = { id: 'x', trace_id: 'x', svc_user_id: 'u', svc_username: 'U' }
const IDS = ['a', 'b']

const startOf = (id: string) =>
  resolveCallStart(
    { ...STARTED, id, trace_id: `t-${id}`, inputs: { ref: `weave:///a/b/object/${id}:1` } },
    DEFAULTS,
    'weave',
  )
const endOf = (id: string) =>
  resolveCallEnd(
    {
      ...ENDED,
      id,
      output: { ref: `weave:///a/b/object/${id}:2` },
      summary: { usage: { m: { input_tokens: 3 } } },
    },
    'weave',
  )

function partsOf(id: string): CallParts[] {
  return [
    { start: startOf(id), end: null },
    { start: null, end: endOf(id) },
    { start: startOf(id), end: endOf(id) },
  ]
}

/** A part of a call, a new name for it, and where batches are cut. */
const move = fc.record({
  id: fc.constantFrom(...IDS),
  kind: fc.constantFrom('start', 'end', 'whole', 'name'),
  cuts: fc.boolean(),
})
const KINDS = ['start', 'end', 'whole']

it('every order, repetition and cut into batches of the parts ends in the same rows', async () => {
  const openStore = () => openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 100 })

  async function play(moves: readonly { id: string; kind: string; cuts: boolean }[]) {
    const store = openStore()
    let batch: CallParts[] = []
    const flush = async () => {
      const results = await store.calls.writeParts(batch)
      expect(results.filter(({ error }) => error)).toEqual([])
      batch = []
    }
    for (const { id, kind, cuts } of moves) {
      if (kind === 'name') {
        await store.calls.renameCall({ project_id: 'acme/demo', id, display_name: `n-${id}` })
      } else {
        batch.push(partsOf(id)[KINDS.indexOf(kind)] as CallParts)
      }
      if (cuts) await flush()
    }
    await flush()
    const calls = await Promise.all(IDS.map((id) => store.calls.findCall('acme/demo', id)))
    const statistics = await store.stats.aggregate(
      {
        project_id: 'acme/demo',
        filter: {
          input_refs: ['weave:///a/b/object/a:1'],
          output_refs: ['weave:///a/b/object/a:2'],
        },
        startUs: startOf('a').started_at_us,
        endUs: startOf('a').started_at_us + 1,
        startsUs: new Float64Array([startOf('a').started_at_us]),
        callColumns: toColumns([{ metric: 'call_count', aggregations: ['sum'], percentiles: [] }]),
        usageColumns: toColumns([
          { metric: 'total_tokens', aggregations: ['sum'], percentiles: [] },
        ]),
        prices: [],
        counting: 'own',
        valuesMax: 100,
      },
      readCaller(),
    )
    await store.close()
    return { calls, statistics }
  }

  const needed = IDS.flatMap((id) =>
    ['start', 'end', 'name'].map((kind) => ({ id, kind, cuts: false })),
  )
  const expected = await play(needed)
  expect(expected.calls[0]).toMatchObject({
    display_name: 'n-a',
    output: { ref: 'weave:///a/b/object/a:2' },
  })
  const whole = fc
    .tuple(fc.array(move, { maxLength: 8 }), fc.constant(needed))
    .chain(([more, all]) => fc.shuffledSubarray([...more, ...all], { minLength: more.length + 6 }))
  await fc.assert(
    fc.asyncProperty(whole, async (moves) => {
      expect(await play(moves)).toEqual(expected)
    }),
    { numRuns: 60 },
  )
})
