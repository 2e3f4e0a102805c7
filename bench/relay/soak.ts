/** The soak test of bench/relay.ts: mixed load, to see whether memory stays flat. */
import { EVENTS, renderRequest } from './requests.ts'
import type { Generator, Server } from './servers.ts'

const CONNECTIONS = 16
/** One line of the table. */
const SAMPLE_MS = 30_000
/** Whole answers and streams in turn. */
const TURN_MS = 5_000

interface SoakOptions {
  readonly upstream: Server
  readonly generator: Generator
  readonly servers: ReadonlyMap<string, Server>
  readonly minutes: number
}

/** Runs Weft alone under load and prints its memory. */
export async function soak({ upstream, generator, servers, minutes }: SoakOptions): Promise<void> {
  const weft = servers.get('weft')
  if (weft === undefined) throw new Error('the soak needs weft')
  const { port, key } = weft
  const target = { variant: 'weft', upstreamPort: upstream.port, key } as const
  const loads = [false, true].map((isStream) => ({
    kind: 'run' as const,
    port,
    connections: CONNECTIONS,
    durationMs: TURN_MS,
    request: renderRequest(target, { promptChars: 800, isStream }).toString(),
    ending: isStream ? '[DONE]' : '',
  }))
  console.log(`${CONNECTIONS} connections, whole answers and streams of ${EVENTS} pieces in turn\n`)
  console.log('| minute | RSS MB | heap MB | answers | failed |')
  console.log('|---|---|---|---|---|')
  const begin = Date.now()
  let answered = 0
  let failed = 0
  let sampledAt = begin
  for (let turn = 0; Date.now() < begin + minutes * 60_000; turn++) {
    const load = loads[turn % loads.length]
    if (load === undefined) break
    const result = await generator.run(load)
    answered += result.answered
    failed += result.failed
    if (Date.now() < sampledAt + SAMPLE_MS) continue
    sampledAt = Date.now()
    const { rssMb, heapMb } = await weft.use('memory')
    const minute = ((sampledAt - begin) / 60_000).toFixed(1)
    console.log(
      `| ${minute} | ${rssMb.toFixed(0)} | ${heapMb.toFixed(1)} | ${answered} | ${failed} |`,
    )
  }
}
