/**
 * The page of this checkout and of another one, in turns: first paint, first chart, from the list to a trace, and frames
 * lost while the list of all calls scrolls.
 *
 * npm run bench -- page-turns --against CHECKOUT [--calls 20000] [--rounds 10] [--chromium PATH]
 *
 * The other checkout needs its own `node_modules`. Both servers have the same calls of 30 days. The order within a round
 * alternates, and the ratio is that of the medians.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { readArguments, readCount } from '../examples/script-arguments.ts'
import { measureFirstView, measureScrolling, measureView } from './browser/views.ts'
import { type BenchServer, median, startServer } from './servers/bench-server.ts'

const PROJECT = 'bench/turns'
const DAY_MS = 86_400_000
const DAYS = 30
const BATCH_CALLS = 500

const { values } = readArguments({
  options: {
    against: { type: 'string' },
    calls: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '10' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
})
const [calls, rounds] = [readCount(values.calls), readCount(values.rounds)]
if (values.against === undefined) throw new Error('--against needs the folder of a checkout')

const endMs = Date.now()
const beginMs = endMs - DAYS * DAY_MS

/** Traces of two calls, spread evenly over the days. */
async function recordTraces(server: BenchServer): Promise<void> {
  const usage = { 'gpt-4o-mini': { prompt_tokens: 100, completion_tokens: 10, requests: 1 } }
  for (let first = 0; first < calls; first += BATCH_CALLS) {
    const count = Math.min(BATCH_CALLS, calls - first)
    const batch = Array.from({ length: count }, (_, index) => first + index).flatMap((at) => {
      const startMs = beginMs + ((at - (at % 2)) / calls) * DAYS * DAY_MS
      const timeOf = (ms: number) => new Date(startMs + ms).toISOString()
      const named = { project_id: PROJECT, id: `call-${at}` }
      const start = {
        ...named,
        trace_id: `trace-${at - (at % 2)}`,
        parent_id: at % 2 === 0 ? null : `call-${at - 1}`,
        op_name: `step-${at % 20}`,
        started_at: timeOf(at % 2),
        attributes: {},
        inputs: { question: `Why ${at}?` },
      }
      const end = { ...named, ended_at: timeOf(500), output: 'Because.', summary: { usage } }
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end } },
      ]
    })
    await server.post('/call/upsert_batch', { batch })
  }
}

/** Milliseconds from a click on a row to the tree and the call beside it. */
async function measureOpening(page: Page): Promise<number> {
  const row = page.locator('.row.call').first()
  await row.waitFor()
  await page.getByText(/^[\d,]+(?: and more)? calls$/).waitFor()
  const begin = performance.now()
  await row.click()
  await page.locator('.trace-row').first().waitFor()
  await page.locator('.detail .facts').waitFor()
  return performance.now() - begin
}

const MEASURES = {
  paint: 'first paint, ms',
  chart: 'first chart over 30 days, ms',
  open: 'from the list to a trace, ms',
  lost: 'frames lost in 5 s of scrolling',
  longest: 'the longest frame, ms',
  end: 'last row after a jump to it, ms',
} as const
type Measure = keyof typeof MEASURES

interface Build {
  readonly name: string
  readonly server: BenchServer
  readonly dataDir: string
  readonly found: Record<Measure, number[]>
}

async function startBuild(name: string, checkout?: string): Promise<Build> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-bench-turns-'))
  const server = await startServer(dataDir, checkout === undefined ? {} : { checkout })
  await recordTraces(server)
  return {
    name,
    server,
    dataDir,
    found: { paint: [], chart: [], open: [], lost: [], longest: [], end: [] },
  }
}

console.error(`load average ${loadavg()[0]?.toFixed(2)}`)
const browser = await chromium.launch({
  executablePath: values.chromium,
  args: ['--no-sandbox'],
})
const builds = [await startBuild('other', values.against), await startBuild('this')]
const range = [beginMs, endMs].map((ms) => new Date(ms).toISOString())
try {
  for (let round = -1; round < rounds; round++) {
    for (const { server, found } of round % 2 === 0 ? builds : builds.toReversed()) {
      const home = `http://127.0.0.1:${server.port}/${PROJECT}/weave`
      const first = await measureView(
        browser,
        `${home}?from=${range[0]}&to=${range[1]}`,
        measureFirstView,
      )
      const openMs = await measureView(browser, `${home}/calls`, measureOpening)
      const scrolled = await measureView(browser, `${home}/calls?all=1`, measureScrolling)
      // The first round warms both up.
      if (round < 0) continue
      found.paint.push(first.paintMs)
      found.chart.push(first.chartMs)
      found.open.push(openMs)
      found.lost.push(scrolled.lost)
      found.longest.push(scrolled.longestMs)
      found.end.push(scrolled.endMs)
    }
  }
  const [other, own] = builds as [Build, Build]
  const show = (found: readonly number[]) =>
    `${median(found).toFixed(0)} (${Math.min(...found).toFixed(0)} to ${Math.max(...found).toFixed(0)})`
  console.log(
    `| ${calls.toLocaleString('en')} calls, ${rounds} rounds | other | this | ratio |\n|---|---|---|---|`,
  )
  for (const [key, label] of Object.entries(MEASURES) as [Measure, string][]) {
    const ratio = median(own.found[key]) / median(other.found[key])
    console.log(
      `| ${label} | ${show(other.found[key])} | ${show(own.found[key])} | ${ratio.toFixed(2)} |`,
    )
  }
  console.error(`load average ${loadavg()[0]?.toFixed(2)}`)
} finally {
  await browser.close()
  for (const { server, dataDir } of builds) {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
