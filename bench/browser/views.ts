/** Views of the page in a browser that has never seen it. */
import type { Browser, Page } from 'playwright-core'
import { KEY } from '../servers/bench-server.ts'

/** Milliseconds: counting a large table takes long. */
const TIMEOUT_MS = 600_000

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
