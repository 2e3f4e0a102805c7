/** The soak test of bench/relay.ts: mixed load, to see whether memory stays flat. */
import { EVENTS, renderRequest, streamEnding, type Variant } from './requests.ts'
import type { Generator, Server } from './servers.ts'

/** What a soak sends, each to a server of its own, unless `--only` chooses. */
export const SOAKED_VARIANTS = ['weft', 'messages', 'translated', 'budgeted'] as const

const CONNECTIONS = 16
/** One line of the table for each server. */
const SAMPLE_MS = 60_000
/** Whole responses and streams, each variant in turn. */
const TURN_MS = 5_000

interface SoakOptions {
  readonly upstream: Server
  readonly generator: Generator
  readonly servers: ReadonlyMap<Variant, Server>
  readonly minutes: number
}

/** Runs one server after the other under load, again and again, and prints their memory. */
export async function soak({ upstream, generator, servers, minutes }: SoakOptions): Promise<void> {
  const soaked = [...servers].filter(([variant]) => variant !== 'direct')
  const loads = soaked.flatMap(([variant, { port, key }]) =>
    [false, true].map((isStream) => ({
      kind: 'run' as const,
      port,
      connections: CONNECTIONS,
      durationMs: TURN_MS,
      request: renderRequest(
        { variant, upstreamPort: upstream.port, key },
        { promptChars: 800, isStream },
      ).toString(),
      ending: isStream ? streamEnding(variant) : '',
    })),
  )
  console.log(
    `${CONNECTIONS} connections, whole responses and streams of ${EVENTS} chunks in turn\n`,
  )
  console.log('| minute | server | RSS MB | heap MB | responses of all | failed |')
  console.log('|---|---|---|---|---|---|')
  const begin = Date.now()
  let answered = 0
  let failed = 0
  let sampledAt = begin
  for (let turn = 0; Date.now() < begin + minutes * 60_000; turn++) {
    const load = loads[turn % loads.length]
    if (load === undefined) throw new Error('the soak needs a server')
    const result = await generator.run(load)
    answered += result.answered
    failed += result.failed
    if (Date.now() < sampledAt + SAMPLE_MS) continue
    sampledAt = Date.now()
    const minute = ((sampledAt - begin) / 60_000).toFixed(1)
    for (const [variant, server] of soaked) {
      const { rssMb, heapMb } = await server.use('memory')
      const memory = `${rssMb.toFixed(0)} | ${heapMb.toFixed(1)}`
      console.log(`| ${minute} | ${variant} | ${memory} | ${answered} | ${failed} |`)
    }
  }
}
