/**
 * What a relay costs: the upstream asked directly, through a bare Fastify + undici, through Weft (credentials,
 * validation, recording on) and through Portkey's gateway and LiteLLM's proxy where they are installed (`npm run tools --
 * portkey litellm`).
 * In turns in one run; load, upstream and relays are processes of their own.
 *
 * npm run bench -- relay [rounds seconds] [--soak minutes] [--only variant,variant]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments, readCount, readCounts } from '../examples/script-arguments.ts'
import {
  EVENTS,
  HELD_MODEL,
  renderRequest,
  streamEnding,
  USUAL_VARIANTS,
  VARIANTS,
  type Variant,
} from './relay/requests.ts'
import {
  type Generator,
  type Server,
  startGenerator,
  startRelay,
  startUpstream,
} from './relay/servers.ts'
import { SOAKED_VARIANTS, soak } from './relay/soak.ts'
import { type Measure, renderOpenTable, renderTables } from './relay/tables.ts'

const { values, positionals } = readArguments({
  options: { soak: { type: 'string' }, only: { type: 'string' } },
  allowPositionals: true,
})
const [rounds = 5, seconds = 2] = readCounts(positionals)
const usual = values.soak === undefined ? USUAL_VARIANTS : SOAKED_VARIANTS
const chosen: readonly string[] = values.only?.split(',') ?? usual

/** Warm-up: code reaches its full speed only after tens of thousands of requests. */
const WARM_UP_MS = 10_000
const OPEN_STREAMS = 1_000

/** The kinds of load. */
const CASES = [
  { name: 'plain, 1 KB', promptChars: 800, connections: 16 },
  { name: 'plain, 32 KB', promptChars: 32_000, connections: 16 },
  { name: 'plain, 1 KB', promptChars: 800, connections: 1 },
  { name: 'plain, 1 KB', promptChars: 800, connections: 10 },
  { name: `streams of ${EVENTS} pieces`, promptChars: 800, connections: 16, isStream: true },
] as const

const WARM_UP_CASES = CASES.filter((load) => load.connections === 16)

interface Bench {
  readonly upstream: Server
  readonly generator: Generator
  readonly servers: ReadonlyMap<Variant, Server>
}

function targetOf(variant: Variant, { key }: Server, { port }: Server) {
  return { variant, upstreamPort: port, key }
}

/** One case against one server: the load's result and the server's CPU time for each answer, also of its main thread. */
async function measure(
  { upstream, generator, servers }: Bench,
  variant: Variant,
  load: (typeof CASES)[number],
  durationMs: number,
): Promise<Measure> {
  const server = servers.get(variant) as Server
  const before = await server.use()
  const result = await generator.run({
    kind: 'run',
    port: server.port,
    connections: load.connections,
    durationMs,
    request: renderRequest(targetOf(variant, server, upstream), load).toString(),
    ending: 'isStream' in load ? streamEnding(variant) : '',
  })
  const after = await server.use()
  const perAnswer = (name: 'cpuMs' | 'mainMs') => (after[name] - before[name]) / result.answered
  return { ...result, cpuMs: perAnswer('cpuMs'), mainMs: perAnswer('mainMs') }
}

/** Memory of a server that has just started, and with many streams open. */
async function measureOpen({ upstream, generator, servers }: Bench, variant: Variant) {
  const server = servers.get(variant) as Server
  const before = await server.use('memory')
  const options = { promptChars: 800, isStream: true, model: HELD_MODEL }
  const request = renderRequest(targetOf(variant, server, upstream), options).toString()
  await generator.open({ kind: 'open', port: server.port, request, count: OPEN_STREAMS })
  const open = await server.use('memory')
  await generator.close()
  return { beforeMb: before.rssMb, openMb: open.rssMb }
}

/** Rotates a list, so that a server is not always measured after the same other one. */
function rotate<T>(list: readonly T[], by: number): readonly T[] {
  const start = by % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}

async function compare(bench: Bench): Promise<void> {
  const variants = [...bench.servers.keys()]
  const memory = new Map<Variant, { beforeMb: number; openMb: number }>()
  for (const variant of variants) {
    if (variant === 'direct' || variant.startsWith('litellm')) continue
    memory.set(variant, await measureOpen(bench, variant))
  }
  console.log(renderOpenTable(OPEN_STREAMS, memory))
  const results = CASES.map(() => new Map<Variant, Measure[]>(variants.map((name) => [name, []])))
  for (const variant of variants) {
    for (const load of WARM_UP_CASES) await measure(bench, variant, load, WARM_UP_MS)
  }
  for (let round = 0; round < rounds; round++) {
    for (const [at, load] of CASES.entries()) {
      for (const variant of rotate(variants, round)) {
        results[at]?.get(variant)?.push(await measure(bench, variant, load, seconds * 1000))
      }
    }
  }
  console.log(`${rounds} rounds of ${seconds} s, medians\n`)
  console.log(
    renderTables(CASES.map((load, at) => ({ ...load, results: results[at] ?? new Map() }))),
  )
}

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
const servers = new Map<Variant, Server>()
const generator = startGenerator()
console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
try {
  const upstream = await startUpstream()
  servers.set('direct', upstream)
  for (const variant of VARIANTS) {
    if (variant === 'direct' || !chosen.includes(variant)) continue
    const server = await startRelay(variant, upstream.port, directory)
    if (server !== null) servers.set(variant, server)
  }
  const bench = { upstream, generator, servers }
  if (values.soak === undefined) await compare(bench)
  else await soak({ ...bench, minutes: readCount(values.soak) })
} finally {
  generator.stop()
  for (const server of servers.values()) server.stop()
  rmSync(directory, { recursive: true, force: true })
}
