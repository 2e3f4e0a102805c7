/**
 * `weft import --from` of as many spans as are asked for, with 1 KB of bodies each: a file of the OpenTelemetry Collector, and
 * servers that respond as Phoenix and MLflow do, at once. Spans a second of the whole command, and the most memory it held.
 *
 * npm run bench -- import [spans ...]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCounts } from '../examples/script-arguments.ts'

const BATCH = 500
/** Spans of a trace, the first of which is its root. */
const TRACE_SPANS = 10
const PAGE_TRACES = 50
const POLL_MS = 20
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(12).slice(0, 512)
const FIRST_MS = Date.UTC(2026, 0, 1)
const COMMAND = fileURLToPath(new URL('../src/weft.cjs', import.meta.url))

const counts = readCounts()
const sizes = counts.length === 0 ? [20_000, 100_000] : counts

function idsOf(number: number) {
  const trace = Math.floor(number / TRACE_SPANS)
  const isRoot = number % TRACE_SPANS === 0
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  return {
    trace: hex(trace + 1, 32),
    span: hex(number + 1, 16),
    parent: isRoot ? null : hex(trace * TRACE_SPANS + 1, 16),
    ms: FIRST_MS + number,
  }
}

function spanOf(number: number) {
  const { trace, span, parent, ms } = idsOf(number)
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  return {
    traceId: trace,
    spanId: span,
    ...(parent === null ? {} : { parentSpanId: parent }),
    name: 'chat',
    kind: 1,
    startTimeUnixNano: `${ms}000000`,
    endTimeUnixNano: `${ms + 5}000000`,
    attributes: [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt-5.4'),
      text('input.value', TEXT),
      text('output.value', TEXT),
    ],
  }
}

/** Numbers from one to before the other. */
function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
}

async function writeOtlp(path: string, spans: number): Promise<void> {
  const file = createWriteStream(path)
  for (let from = 0; from < spans; from += BATCH) {
    const batch = range(from, Math.min(spans, from + BATCH)).map(spanOf)
    const line = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: batch }] }] })
    if (!file.write(`${line}\n`)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'close')
}

function phoenixSpan(number: number) {
  const { trace, span, parent, ms } = idsOf(number)
  return {
    context: { trace_id: trace, span_id: span },
    parent_id: parent,
    name: 'chat',
    span_kind: 'LLM',
    start_time: new Date(ms).toISOString(),
    end_time: new Date(ms + 5).toISOString(),
    status_code: 'OK',
    attributes: { 'llm.model_name': 'gpt-5.4', 'input.value': TEXT, 'output.value': TEXT },
    events: [],
  }
}

type Responder = (url: URL, body: Readonly<Record<string, unknown>>) => object

function phoenix(spans: number): Responder {
  return ({ pathname, searchParams }) => {
    if (!pathname.endsWith('/spans')) return { data: [], next_cursor: null }
    const from = Number(searchParams.get('cursor') ?? 0)
    const to = Math.min(spans, from + Number(searchParams.get('limit')))
    return { data: range(from, to).map(phoenixSpan), next_cursor: to < spans ? String(to) : null }
  }
}

function mlflow(spans: number): Responder {
  const traces = Math.ceil(spans / TRACE_SPANS)
  const info = (trace: number) => ({
    trace_id: `tr-${trace}`,
    tags: { 'mlflow.trace.spansLocation': 'TRACKING_STORE' },
  })
  const hasSpans = ({ trace_id }: { readonly trace_id: string }) => {
    const first = Number(trace_id.slice('tr-'.length)) * TRACE_SPANS
    const numbers = range(first, Math.min(spans, first + TRACE_SPANS))
    return { trace_info: { trace_id }, spans: numbers.map(spanOf) }
  }
  return ({ pathname, searchParams }, { page_token = 0 }) => {
    if (pathname.endsWith('/get-by-name')) return { experiment: { experiment_id: '1' } }
    if (pathname.endsWith('/batchGet')) {
      const ids = searchParams.getAll('trace_ids')
      return { traces: ids.map((trace_id) => hasSpans({ trace_id })) }
    }
    if (!pathname.endsWith('/traces/search')) return {}
    const from = Number(page_token)
    const to = Math.min(traces, from + PAGE_TRACES)
    const next = to < traces ? { next_page_token: String(to) } : {}
    return { traces: range(from, to).map(info), ...next }
  }
}

async function serve(respond: Responder) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const url = new URL(request.url ?? '/', 'http://localhost')
    response.end(JSON.stringify(respond(url, text === '' ? {} : JSON.parse(text))))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

/** The most memory of a process so far, in MB; 0 once it has ended. */
function peakMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

async function measure(tool: string, location: string, spans: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-bench-import-'))
  const began = performance.now()
  const args = [COMMAND, 'import', '--from', tool, '--project', 'acme/bench', location]
  const env = { PATH: process.env.PATH, WEFT_DATA_DIR: dataDir }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let [peak, output] = [0, '']
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const timer = setInterval(() => {
    peak = Math.max(peak, peakMb(child.pid ?? 0))
  }, POLL_MS)
  const [code] = await once(child, 'close')
  clearInterval(timer)
  const seconds = (performance.now() - began) / 1000
  rmSync(dataDir, { recursive: true })
  if (code !== 0 || !output.includes(`: ${spans} calls`)) throw new Error(`${tool}: ${output}`)
  const figures = [seconds.toFixed(1), (spans / seconds).toFixed(0), peak.toFixed(0)]
  console.log(`| ${tool} | ${spans} | ${figures.join(' | ')} |`)
}

console.log('| tool | spans | s | spans/s | peak MB |\n|---|---|---|---|---|')
for (const spans of sizes) {
  const folder = mkdtempSync(join(tmpdir(), 'weft-bench-otlp-'))
  const path = join(folder, 'traces.json')
  await writeOtlp(path, spans)
  await measure('otlp', path, spans)
  rmSync(folder, { recursive: true })
  for (const [tool, respond] of Object.entries({ phoenix, mlflow })) {
    const { url, close } = await serve(respond(spans))
    await measure(tool, url, spans)
    close()
  }
}
