/**
 * A small server of ClickHouse's HTTP protocol over chdb, for tests: the real dialect, a real socket, and faults on
 * request. Runs as a process of its own, whose first line tells its port, and ends with its standard input.
 *
 * Each request has a session of its own, so that settings and leftovers of one never reach another.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { importTool } from '../../../bench/tools/find-tool.ts'

/** What goes wrong with the next requests whose statement matches. */
interface Fault {
  /** Expression over the statement. */
  readonly matching: string
  readonly kind: 'refuse' | 'reset' | 'slow' | 'lose_answer' | 'proxy'
  /** How many requests; -1: all. */
  count: number
  readonly delayMs?: number
}

const HEADER_BYTES_MAX = 1024 * 1024
/** Members of a query that are no settings. */
const KNOWN = new Set(['query', 'database', 'query_id', 'session_id', 'default_format'])

const { Session } = await importTool('chdb')
const folder = mkdtempSync(join(tmpdir(), 'weft-chdb-'))
// Keeps the engine bound to the folder between requests.
const kept = new Session(folder)
const faults: Fault[] = []

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

async function readStatement(request: IncomingMessage) {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const parameters = new Map(url.searchParams)
  const raw = await buffer(request)
  const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    for (const [name, value] of form) parameters.set(name, String(value))
    return { parameters, sql: parameters.get('query') ?? '' }
  }
  const query = parameters.get('query')
  const text = body.toString()
  return { parameters, sql: query === undefined ? text : text === '' ? query : `${query}\n${text}` }
}

function takeFault(sql: string): Fault | null {
  const fault = faults.find(({ matching, count }) => count !== 0 && new RegExp(matching).test(sql))
  if (!fault) return null
  if (fault.count > 0) fault.count -= 1
  return fault
}

async function run(response: ServerResponse, sql: string, parameters: Map<string, string>) {
  const session = new Session(folder)
  try {
    const database = parameters.get('database')
    if (database) await session.queryAsync(`USE ${database}`)
    const settings = [...parameters]
      .filter(([name]) => !KNOWN.has(name))
      .map(([name, value]) => `${name} = ${quote(value)}`)
    if (settings.length > 0) await session.queryAsync(`SET ${settings.join(', ')}`)
    const result = await session.queryAsync(sql, { format: 'JSONEachRow' })
    response.end(Buffer.from(result.bytes()))
  } finally {
    session.close()
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/ping') return void response.end('Ok.\n')
  if (request.url === '/faults' && request.method === 'GET') {
    return void response.end(JSON.stringify(faults))
  }
  if (request.url === '/faults') {
    faults.splice(0, faults.length, ...JSON.parse((await buffer(request)).toString()))
    return void response.end()
  }
  const { sql, parameters } = await readStatement(request)
  const fault = takeFault(sql)
  if (fault?.kind === 'reset') return void request.socket.destroy()
  if (fault?.kind === 'slow') await sleep(fault.delayMs ?? 0)
  if (fault?.kind === 'proxy') {
    return void response.writeHead(502).end('<html><body>Bad gateway</body></html>')
  }
  if (fault?.kind === 'refuse') {
    response.writeHead(503, { 'x-clickhouse-exception-code': '202' })
    return void response.end(
      'Code: 202. DB::Exception: Too many queries. (TOO_MANY_SIMULTANEOUS_QUERIES)',
    )
  }
  try {
    if (fault?.kind === 'lose_answer') {
      const nowhere = { end: () => undefined } as unknown as ServerResponse
      await run(nowhere, sql, parameters)
      return void request.socket.destroy()
    }
    await run(response, sql, parameters)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const code = /Code: (\d+)/.exec(message)?.[1] ?? '0'
    response.writeHead(500, { 'x-clickhouse-exception-code': code })
    response.end(message)
  }
}

const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => {
  answer(request, response).catch((error) => {
    process.stderr.write(`${error}\n`)
    response.destroy()
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
process.on('exit', () => {
  kept.close()
  rmSync(folder, { recursive: true, force: true })
})
for (const end of ['SIGTERM', 'SIGINT'] as const) process.on(end, () => process.exit(0))
// The tests that started it are gone.
process.stdin.on('end', () => process.exit(0)).resume()
