/**
 * The page in a real browser over the real server: bytes and time of the first paint, time to the first chart, scrolling
 * of a long table, a large trace.
 *
 * npm run bench -- page [--calls 100000] [--trace 30000] [--rounds 5] [--data DIR] [--filled DIR] [--chromium PATH]
 *
 * Calls lie in 30 days, as for bench/stats.ts, and are made once. Measuring begins when statistics of all hours are built. The
 * table that is scrolled has all calls, up to the rows that it can show. --filled takes a directory of `growth --keep`.
 */
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { DATABASE_FILE } from '../src/store/sqlite/db/connection.ts'
import { measureFirstView, measureScrolling, measureView, SCROLL_SECONDS } from './browser/views.ts'
import { type BenchServer, median, startServer } from './servers/bench-server.ts'
import { project_id } from './servers/trace-calls.ts'
import { DAY_US, DAYS, FIRST_US, PROJECT, provideData } from './stats/data.ts'
import { waitForSegments } from './stats/segments.ts'

const TRACE_PROJECT = 'bench/trace'
const FANOUT = 4
const BATCH_CALLS = 500
const MB = 1e6

const { values } = readArguments({
  options: {
    calls: { type: 'string', default: '100000' },
    trace: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '5' },
    data: { type: 'string', default: join(tmpdir(), 'weft-bench-stats') },
    filled: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
})
const [calls, traceCalls, rounds] = [values.calls, values.trace, values.rounds].map(readCount) as [
  number,
  number,
  number,
]

/** Records one trace, a tree in which each call has some others below it. */
async function recordTrace(server: BenchServer): Promise<void> {
  const beginMs = Date.now() - traceCalls
  const timeOf = (at: number, ms: number) => new Date(beginMs + at + ms).toISOString()
  const usage = { 'gpt-4o-mini': { prompt_tokens: 100, completion_tokens: 10, requests: 1 } }
  for (let first = 0; first < traceCalls; first += BATCH_CALLS) {
    const count = Math.min(BATCH_CALLS, traceCalls - first)
    const batch = Array.from({ length: count }, (_, index) => first + index).flatMap((at) => {
      const named = { project_id: TRACE_PROJECT, id: `call-${at}` }
      const parent_id = at === 0 ? null : `call-${Math.floor((at - 1) / FANOUT)}`
      const isLeaf = at * FANOUT + 1 >= traceCalls
      const start = {
        ...named,
        trace_id: 'trace',
        parent_id,
        op_name: `step-${at % 20}`,
        started_at: timeOf(at, 0),
        attributes: {},
        inputs: { question: `Why ${at}?` },
      }
      const end = {
        ...named,
        ended_at: timeOf(at, 500),
        output: 'Because.',
        ...(at % 50 === 49 ? { exception: 'ValueError: bench' } : {}),
        summary: isLeaf ? { usage } : {},
      }
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end } },
      ]
    })
    await server.post('/call/upsert_batch', { batch })
  }
}

interface LargeTrace {
  readonly usableMs: number
  readonly sumsMs: number
  readonly heapMb: number
  readonly elements: number
}

/** Usable: its rows can be seen, folded and chosen. */
async function measureTrace(page: Page): Promise<LargeTrace> {
  await page.waitForSelector('.trace-row')
  const usableMs = await now(page)
  await page.getByText(/tokens$/).waitFor()
  const sumsMs = await now(page)
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const elements = (await page.evaluate(`document.querySelectorAll('*').length`)) as number
  return { usableMs, sumsMs, heapMb: usedSize / MB, elements }
}

/** Milliseconds since the page was asked for. */
async function now(page: Page): Promise<number> {
  return (await page.evaluate('performance.now()')) as number
}

async function repeat<T>(measure: () => Promise<T>): Promise<T[]> {
  const found: T[] = []
  for (let round = 0; round < rounds; round++) found.push(await measure())
  return found
}

/** A line of the table: the median and the range of a number. */
function report<T>(name: string, found: readonly T[], read: (one: T) => number, unit: string) {
  const measured = found.map(read)
  const show = (value: number) => `${Math.round(value).toLocaleString('en')}`
  const range = `${show(Math.min(...measured))} to ${show(Math.max(...measured))}`
  console.log(`| ${name} | ${show(median(measured))} ${unit} | ${range} |`)
}

console.error(`load average ${loadavg()[0]?.toFixed(2)}`)
const { filled } = values
const dataDir = filled ?? provideData(values.data, calls, calls > MB ? 10 : 1).dataDir
const project = filled === undefined ? PROJECT : project_id
const server = await startServer(dataDir)
const url = `http://127.0.0.1:${server.port}`
const browser = await chromium.launch({
  executablePath: values.chromium,
  args: ['--no-sandbox'],
})
try {
  await recordTrace(server)
  const built = await waitForSegments(join(dataDir, DATABASE_FILE))
  console.error(`statistics built after ${built.toFixed(0)} s`)
  const [from, to] = [FIRST_US, FIRST_US + DAYS * DAY_US].map((us) => new Date(us / 1000))
  const home = `${url}/${project}/weave?from=${from?.toISOString()}&to=${to?.toISOString()}`
  console.log(
    `| ${filled ?? `${calls.toLocaleString('en')} calls`} | median | range |\n|---|---|---|`,
  )
  const first = await repeat(() => measureView(browser, home, measureFirstView))
  report('first view, compressed', first, ({ bytes }) => bytes, 'bytes')
  report('first view, requests', first, ({ requests }) => requests, '')
  report('first paint', first, ({ paintMs }) => paintMs, 'ms')
  report('first chart', first, ({ chartMs }) => chartMs, 'ms')
  const table = `${url}/${project}/weave/calls?all=1`
  const scrolled = await repeat(() => measureView(browser, table, measureScrolling))
  report('rows of the table', scrolled, ({ rows }) => rows, '')
  report(`frames in ${SCROLL_SECONDS} s of scrolling`, scrolled, ({ frames }) => frames, '')
  report('frames lost', scrolled, ({ lost }) => lost, '')
  report('longest frame', scrolled, ({ longestMs }) => longestMs, 'ms')
  report('last row after a jump to it', scrolled, ({ endMs }) => endMs, 'ms')
  const trace = `${url}/${TRACE_PROJECT}/weave/calls/call-0`
  const traces = await repeat(() => measureView(browser, trace, measureTrace))
  const size = `trace of ${traceCalls.toLocaleString('en')} calls`
  report(`${size}, usable`, traces, ({ usableMs }) => usableMs, 'ms')
  report(`${size}, tokens and costs added up`, traces, ({ sumsMs }) => sumsMs, 'ms')
  report(`${size}, JavaScript heap`, traces, ({ heapMb }) => heapMb, 'MB')
  report(`${size}, elements in the document`, traces, ({ elements }) => elements, '')
} finally {
  await browser.close()
  await server.stop()
}
