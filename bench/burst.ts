/**
 * What a query costs when an hour is full: a burst of calls, calls that never end, and millions of calls in one hour
 * of which one is deleted. Runs on a store of its own, without HTTP.
 *
 * npm run bench -- burst [thousands of calls, default 100] [thousands in the large hour, default 0; 5000 for five million]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCounts } from '../examples/script-arguments.ts'
import { resolveCallEnd, resolveCallStart } from '../src/domain/calls/new-call.ts'
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite/open.ts'
import { median } from './servers/bench-server.ts'

const PROJECT = 'bench/burst'
const BATCH = 500
const TIMES = 20
const HOUR_US = 3600e6
const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-3-5-haiku-20241022']
const FIRST_US = Date.UTC(2026, 2, 1) * 1000

const [thousands = 100, largeThousands = 0] = readCounts()

async function write(store: SqliteStore, hour: number, from: number, count: number, ends: boolean) {
  for (let first = 0; first < count; first += BATCH) {
    const parts = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => {
      const n = from + first + index
      const us = FIRST_US + hour * HOUR_US + Math.floor((n * HOUR_US) / (from + count))
      const id = `${hour}-${n}`
      const usage = { [MODELS[n % 3] as string]: { input_tokens: n % 997, output_tokens: n % 89 } }
      const start = { project_id: PROJECT, id, op_name: `op-${n % 20}`, attributes: {}, inputs: {} }
      const end = { project_id: PROJECT, id, output: null, summary: { usage } }
      const names = { id, trace_id: id, svc_user_id: 'u', svc_username: 'u' }
      return {
        start: {
          ...resolveCallStart(
            { ...start, started_at: new Date(us / 1000).toISOString() } as never,
            names,
            'weave',
          ),
          started_at_us: us,
        },
        ...(ends
          ? {
              end: {
                ...resolveCallEnd(
                  { ...end, ended_at: new Date(us / 1000).toISOString() } as never,
                  'weave',
                ),
                ended_at_us: us + (n % 9973) * 1000,
              },
            }
          : {}),
      }
    })
    await store.calls.writeParts(parts as never)
  }
}

function ask(
  store: SqliteStore,
  hour: number,
  of: readonly (string | number)[],
  granularityS: number,
) {
  const startUs = FIRST_US + hour * HOUR_US
  const buckets = 3600 / granularityS
  const startsUs = Float64Array.from(
    { length: buckets },
    (_, b) => startUs + b * granularityS * 1e6,
  )
  const query = {
    project_id: PROJECT,
    filter: {},
    startUs,
    endUs: startUs + HOUR_US,
    startsUs,
    prices: [],
    valuesMax: 500_000,
    callColumns: of.map((column) => ({ key: `${column}`, metric: 'latency_ms', of: column })),
    usageColumns: [{ key: 'sum', metric: 'total_tokens', of: 'sum' }],
  }
  const { signal } = new AbortController()
  return store.stats.render(query as never, {
    keyId: 'bench',
    project_id: query.project_id,
    signal,
  })
}

async function timed(run: () => Promise<unknown>): Promise<string> {
  const begin = performance.now()
  await run()
  return `${(performance.now() - begin).toFixed(0)} ms`
}

async function medianOf(run: () => Promise<unknown>): Promise<string> {
  const taken: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const begin = performance.now()
    await run()
    taken.push(performance.now() - begin)
  }
  return `${median(taken).toFixed(1)} ms`
}

const dataDir = mkdtempSync(join(tmpdir(), 'weft-burst-'))
const store = openSqliteStore({ dataDir, ingestQueueMax: 10_000 })
const PERCENTILES = ['count', 50, 95, 99] as const
try {
  await write(store, 0, 0, 1000, true)
  await ask(store, 0, PERCENTILES, 300)
  const count = thousands * 1000
  console.log(
    `a burst of ${count}: written in ${await timed(() => write(store, 1, 0, count, true))}`,
  )
  console.log(`the first answer: ${await timed(() => ask(store, 1, PERCENTILES, 300))}`)
  console.log(`the next ones: ${await medianOf(() => ask(store, 1, PERCENTILES, 300))}`)
  await write(store, 2, 0, count, false)
  await ask(store, 2, PERCENTILES, 300)
  console.log(`${count} that run, polls: ${await medianOf(() => ask(store, 2, PERCENTILES, 300))}`)
  if (largeThousands > 0) {
    const large = largeThousands * 1000
    console.log(
      `${large} in one hour: written in ${await timed(() => write(store, 3, 0, large, true))}`,
    )
    console.log(
      `counts while pieces are built: ${await timed(() => ask(store, 3, ['count'], 300))}`,
    )
    console.log(`built in ${await timed(() => store.segments.buildAll())}`)
    console.log(`counts: ${await medianOf(() => ask(store, 3, ['count'], 300))}`)
    console.log(`percentiles, 1 h: ${await medianOf(() => ask(store, 3, PERCENTILES, 3600))}`)
    console.log(`percentiles, 5 min: ${await medianOf(() => ask(store, 3, PERCENTILES, 300))}`)
    const doomed = { project_id: PROJECT, ids: [`3-${large / 2}`], deleted_at_us: 1 }
    console.log(`one deleted in ${await timed(() => store.calls.deleteCalls(doomed))}`)
    console.log(
      `percentiles, 5 min, then: ${await medianOf(() => ask(store, 3, PERCENTILES, 300))}`,
    )
    console.log(`its piece made again in ${await timed(() => store.segments.buildAll())}`)
  }
} finally {
  await store.close()
  rmSync(dataDir, { recursive: true, force: true })
}
