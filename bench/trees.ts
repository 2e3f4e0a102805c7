/**
 * How long lists take that compare calls by what is below them, by processor time of the whole process:
 *
 *   npm run bench -- trees --calls 1000000 --rounds 3
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { buildApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDeps } from '../src/deps.ts'
import { median } from './servers/bench-server.ts'
import { DAY_US, DAYS, FIRST_US, nestReports, PROJECT, provideData } from './stats/data.ts'

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
  },
})
const CALLS = readCount(values.calls)
const ROUNDS = readCount(values.rounds)
const KEY = 'wk_bench_of_trees_with_letters'

const root = mkdtempSync(join(tmpdir(), 'weft-trees-'))
const { dataDir } = provideData(root, CALLS, 10)
const settings = { dataDir, bootstrapKey: KEY, readTimeoutMs: 3_600_000 }
const config = { ...readConfig({}), ...settings }
const migrated = await openDeps(config)
await migrated.close()
nestReports(dataDir)
const deps = await openDeps(config)
const app = await buildApp(config, deps)

const weave = (field: string) => `summary.weave.${field}`
const by = (field: string) => ({ sort_by: [{ field, direction: 'desc' }] })
const roots = { filter: { trace_roots_only: true } }
const statusIs = (status: string) => ({
  query: { $expr: { $eq: [{ $getField: weave('status') }, { $literal: status }] } },
})

/** The last 40 % of the time. */
const newest = {
  query: {
    $expr: {
      $gte: [
        { $getField: 'started_at' },
        { $literal: new Date((FIRST_US + 0.6 * DAYS * DAY_US) / 1000).toISOString() },
      ],
    },
  },
}

const LISTS: Readonly<Record<string, object>> = {
  'roots by latency': { ...roots, ...by(weave('latency_ms')) },
  'roots by their own cost': { ...roots, ...by(weave('total_cost')) },
  'roots by failures below them': { ...roots, ...by(weave('tree_error_count')) },
  'roots with a failure below them, counted': { ...roots, ...statusIs('descendant_error') },
  'all calls with a failure below them, counted': statusIs('descendant_error'),
  'the newest roots by the tokens of their trees': {
    ...roots,
    ...newest,
    ...by(weave('tree_total_tokens')),
  },
  'the newest roots by the cost of their trees': {
    ...roots,
    ...newest,
    ...by(weave('tree_total_cost')),
  },
  'all roots by the tokens of their trees': { ...roots, ...by(weave('tree_total_tokens')) },
}

async function ask(list: object): Promise<string> {
  const isCount = !('sort_by' in list)
  const response = await app.inject({
    method: 'POST',
    url: isCount ? '/calls/query_stats' : '/calls/stream_query',
    headers: { authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}` },
    payload: { project_id: PROJECT, ...list, ...(isCount ? {} : { limit: 50, columns: ['id'] }) },
  })
  return response.body
}

try {
  console.log(`${CALLS} calls, load average ${loadavg()[0]}; medians of ${ROUNDS}`)
  for (const [name, list] of Object.entries(LISTS)) {
    const times: number[] = []
    const cpu: number[] = []
    let found = ''
    for (let round = 0; round < ROUNDS; round++) {
      const [begin, used] = [performance.now(), process.cpuUsage()]
      found = await ask(list)
      const { user, system } = process.cpuUsage(used)
      times.push(performance.now() - begin)
      cpu.push((user + system) / 1000)
    }
    // The first id, a count, or why the list is refused.
    const [shown] = found.slice(0, 250).split('\n')
    console.log(
      `${name}: CPU ${Math.round(median(cpu))} ms, ${Math.round(median(times))} ms: ${shown}`,
    )
  }
} finally {
  await app.close()
  await deps.close()
  rmSync(root, { recursive: true, force: true })
}
