/**
 * `call/start` at 64 connections with bodies of 1 KB: the group commit beside the same server without a
 * store and beside one commit per request, in turns in one run.
 *
 * npm run bench -- ingest [rounds seconds]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCounts } from '../examples/script-arguments.ts'
import type { Variant } from './servers/ingest-server.ts'
import { type LoadResult, runLoad } from './servers/load.ts'

const VARIANTS: readonly Variant[] = ['validation only', 'group commit', 'one commit per request']
const CONNECTIONS = 64
const BODY_BYTES = 1024
const KEY = 'wk_bench_key_with_enough_letters'
const WARM_UP_MS = 1500

const [rounds = 5, seconds = 4] = readCounts()

interface Server {
  readonly child: ChildProcess
  readonly port: number
}

async function startServer(variant: Variant, directory: string): Promise<Server> {
  const child = fork(new URL('./servers/ingest-server.ts', import.meta.url), [
    variant,
    KEY,
    directory,
  ])
  const [address] = (await once(child, 'message')) as [{ port: number }]
  return { child, port: address.port }
}

function buildRequest(): Buffer {
  const start = {
    project_id: 'bench/ingest',
    op_name: 'predict',
    started_at: '2026-01-02T03:04:05.123456Z',
    attributes: { source: 'bench' },
    inputs: { text: '' },
  }
  const padding = BODY_BYTES - JSON.stringify({ start }).length
  start.inputs.text = 'x'.repeat(padding)
  const body = JSON.stringify({ start })
  const head = [
    'POST /call/start HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'))
const servers = new Map<Variant, Server>()
const results = new Map<Variant, LoadResult[]>(VARIANTS.map((variant) => [variant, []]))
try {
  for (const variant of VARIANTS) servers.set(variant, await startServer(variant, directory))
  const request = buildRequest()
  const load = (variant: Variant, durationMs: number) =>
    runLoad({
      port: servers.get(variant)?.port ?? 0,
      connections: CONNECTIONS,
      durationMs,
      request,
    })
  for (const variant of VARIANTS) await load(variant, WARM_UP_MS)
  for (let round = 0; round < rounds; round++) {
    for (const variant of VARIANTS) results.get(variant)?.push(await load(variant, seconds * 1000))
  }
} finally {
  for (const { child } of servers.values()) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
}

const baseline = median((results.get('validation only') ?? []).map(({ perSecond }) => perSecond))
console.log(`${cpus().length} x ${cpus()[0]?.model}, node ${process.version}`)
console.log(
  `${CONNECTIONS} connections, ${BODY_BYTES} byte bodies, ${rounds} rounds of ${seconds} s, medians\n`,
)
console.log('| variant | calls/s | to validation only | p50 ms | p99 ms | failed |')
console.log('|---|---|---|---|---|---|')
for (const [variant, runs] of results) {
  const perSecond = median(runs.map((run) => run.perSecond))
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  const p50 = median(runs.map((run) => run.p50Ms)).toFixed(1)
  const p99 = median(runs.map((run) => run.p99Ms)).toFixed(1)
  const ratio = (perSecond / baseline).toFixed(2)
  console.log(`| ${variant} | ${Math.round(perSecond)} | ${ratio} | ${p50} | ${p99} | ${failed} |`)
}
