/** The list of calls in a browser, for the tests of what is done in it. */
import type { Page } from 'playwright-core'
import { type OpenPage, openPage, PROJECT, recordCalls } from '../browser.ts'

const BEGIN_MS = Date.now() - 600_000

/** Opens the list of calls `c0`, `c1` and so on of the operations `op0`, `op1` and so on, of which `c0` is the oldest. */
export async function openCalls(count: number): Promise<OpenPage> {
  const test = await openPage()
  const { page, url, key } = test
  const calls = Array.from({ length: count }, (_, at) => ({
    id: `c${at}`,
    op_name: `op${at}`,
    started_at_ms: BEGIN_MS + at,
    lasted_ms: 1000 - at,
    inputs: { question: `Why ${at}?` },
    output: `Because ${at}.`,
  }))
  await recordCalls(test, calls)
  await page.goto(`${url}/${PROJECT}/weave/calls#key=${key}`)
  await page.locator('.row.call').first().waitFor()
  return test
}

/** The row of the call of an operation. */
export const rowOf = (page: Page, op: string) =>
  page.locator('.row.call', { has: page.getByText(op, { exact: true }) })

/** The operations of the rows, in their order. */
export const opsOf = (page: Page) => page.locator('.row.call > :nth-child(3)').allTextContents()
