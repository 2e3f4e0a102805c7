/**
 * Statistics of a project that was just imported, whose hours have no segments yet:
 *
 *   npm run bench -- unbuilt --calls 2000 --hours 700
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { resolveCallEnd, resolveCallStart } from '../src/domain/calls/new-call.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { ALL_COLUMNS } from '../test/stats/support/segment-calls.ts'

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '2000' },
    hours: { type: 'string', default: '700' },
  },
})
const [CALLS, HOURS] = [readCount(values.calls), readCount(values.hours)]
const ROUNDS = 20
const HOUR_MS = 3_600_000
const BEGAN_MS = Date.UTC(2026, 0, 1)
const project_id = 'acme/demo'
const user = { svc_user_id: 'u', svc_username: 'u' }

function partsOf(n: number) {
  const id = `call-${n}`
  const startedMs = BEGAN_MS + Math.floor((n * HOURS * HOUR_MS) / CALLS)
  const started_at = new Date(startedMs).toISOString()
  const started = { project_id, id, trace_id: id, op_name: 'op', attributes: {}, inputs: {} }
  const start = resolveCallStart({ ...started, started_at }, { id, trace_id: id, ...user }, 'weave')
  const summary = { usage: { 'gpt-4o-mini': { input_tokens: n % 1000, output_tokens: 10 } } }
  const ended_at = new Date(startedMs + (n % 3000)).toISOString()
  return { start, end: resolveCallEnd({ project_id, id, ended_at, output: 'x', summary }, 'weave') }
}

const dataDir = mkdtempSync(join(tmpdir(), 'weft-unbuilt-'))
const store = openSqliteStore({ dataDir, ingestQueueMax: 100_000 })

async function medianMs(): Promise<string> {
  const { signal } = new AbortController()
  const caller = { keyId: 'bench', project_id, signal }
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now()
    await store.stats.render(
      {
        project_id,
        filter: {},
        startUs: BEGAN_MS * 1000,
        endUs: (BEGAN_MS + HOURS * HOUR_MS) * 1000,
        startsUs: Float64Array.from(
          { length: HOURS },
          (_, hour) => (BEGAN_MS + hour * HOUR_MS) * 1000,
        ),
        ...ALL_COLUMNS,
        prices: [],
        counting: 'own',
        valuesMax: 1e6,
      },
      caller,
    )
    times.push(performance.now() - startedMs)
  }
  return times.toSorted((left, right) => left - right)[ROUNDS / 2]?.toFixed(1) ?? ''
}

try {
  for (let at = 0; at < CALLS; at += 500) {
    const batch = Array.from({ length: Math.min(500, CALLS - at) }, (_, n) => partsOf(at + n))
    await store.calls.writeParts(batch)
  }
  const unbuilt = await medianMs()
  await store.segments.buildAll()
  console.log(`| ${CALLS} calls in ${HOURS} hours | ${unbuilt} | ${await medianMs()} |`)
} finally {
  await store.close()
  rmSync(dataDir, { recursive: true })
}
