/** Views of the page in a browser that has never seen it. */
import type { Browser, Page } from 'playwright-core'
import { KEY } from '../servers/bench-server.ts'

/** Milliseconds: counting a large table takes long. */
const TIMEOUT_MS = 600_000

export const SCROLL_SECONDS = 5
/** Pixels per frame: some thirty rows, faster than anybody reads. */
const SCROLL_STEP_PX = 1000
/** Milliseconds between two frames at 60 Hz. */
const FRAME_MS = 1000 / 60

/** Opens an address in a browser that has never seen the page, signed in, and reads what is measured. */
export async function measureView<T>(
  browser: Browser,
  address: string,
  measure: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    context.setDefaultTimeout(TIMEOUT_MS)
    await context.addInitScript(`sessionStorage.setItem('weft.key', '${KEY}')`)
    const page = await context.newPage()
    await page.goto(address)
    return await measure(page)
  } finally {
    await context.close()
  }
}

interface FirstView {
  readonly bytes: number
  readonly requests: number
  readonly paintMs: number
  readonly chartMs: number
}

export async function measureFirstView(page: Page): Promise<FirstView> {
  await page.waitForSelector('.chart canvas')
  return (await page.evaluate(`(() => {
    const entries = [...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
    const own = entries.filter(({ name }) => name.includes('/assets/') || !name.includes('/calls/') && !name.endsWith('/me'))
    return {
      chartMs: performance.now(),
      paintMs: performance.getEntriesByName('first-contentful-paint')[0].startTime,
      bytes: own.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
      requests: own.length,
    }
  })()`)) as FirstView
}

interface Scrolling {
  readonly rows: number
  readonly frames: number
  readonly lost: number
  readonly longestMs: number
  /** From the jump to the last row until that row is shown. */
  readonly endMs: number
}

/** Scrolls the list of calls, and then jumps to its end. */
export async function measureScrolling(page: Page): Promise<Scrolling> {
  await page.waitForSelector('.row.call')
  await page.getByText(/^[\d,]+(?: and more)? calls$/).waitFor()
  const scrolled = (await page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('.window-list')
    const times = []
    const step = (now) => {
      times.push(now)
      list.scrollTop += ${SCROLL_STEP_PX}
      if (now - times[0] < ${1000 * SCROLL_SECONDS}) return requestAnimationFrame(step)
      const waits = times.slice(1).map((time, at) => time - times[at])
      resolve({
        rows: Number(document.querySelector('[role=table]').getAttribute('aria-rowcount')),
        frames: waits.length,
        lost: waits.reduce((sum, wait) => sum + Math.max(0, Math.round(wait / ${FRAME_MS}) - 1), 0),
        longestMs: Math.max(...waits),
      })
    }
    requestAnimationFrame(step)
  })`)) as Omit<Scrolling, 'endMs'>
  const begin = performance.now()
  await page.evaluate(`document.querySelector('.window-list').scrollTop = 1e9`)
  await page.waitForSelector(`.row.call[aria-rowindex="${scrolled.rows}"]`)
  return { ...scrolled, endMs: performance.now() - begin }
}
