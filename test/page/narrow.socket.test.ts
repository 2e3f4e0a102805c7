import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, recordCalls } from './browser.ts'
import { publishDataset } from './evaluation-fixtures.ts'

/** Every view that needs no more than one call and one object. */
const VIEWS = [
  ['/', 'main'],
  ['/acme/demo/weave', '.figure'],
  ['/acme/empty/weave', '.first'],
  ['/acme/demo/weave/calls?all=1', 'a.row'],
  ['/acme/demo/weave/calls/a', '.message'],
  ['/acme/demo/weave/threads', '.list tbody tr'],
  ['/acme/demo/weave/threads/talk', '.message'],
  ['/acme/demo/weave/feedback', 'h1'],
  ['/acme/demo/weave/queues', 'h1'],
  ['/acme/demo/weave/evaluations', 'main .first'],
  ['/acme/demo/weave/objects', '.grid a'],
  ['/acme/demo/weave/objects/questions/versions/latest', '.content .grid'],
  ['/acme/demo/weave/playground', '.settings select'],
  ['/acme/demo/weave/training', 'main .first'],
  ['/acme/demo/weave/training/new', '.choices'],
  ['/keys', 'h1'],
  ['/models', '[aria-label=Models] tbody tr'],
] as const

describe.skipIf(!hasBrowser)('the page on a phone, in the dark', () => {
  it('fits every view into its width, with nothing that a reader of screens stumbles over', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    const long = 'x'.repeat(500)
    await recordCalls(test, [
      {
        ...{ id: 'a', thread_id: 'talk', turn_id: 'a', op_name: long, output: long },
        inputs: { messages: [{ role: 'user', content: long }] },
      },
    ])
    await publishDataset(test, 'questions', [{ question: long }])
    await page.goto(`${url}/#key=${key}`)
    for (const [path, sign] of VIEWS) {
      await page.goto(url + path)
      await page.locator(sign).first().waitFor()
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect([path, over, await findBarriers(page)]).toEqual([path, 0, []])
    }
    expect(complaints).toEqual([])
  }, 90_000)

  it('keeps the filter folded, tells how much of it is set, and shows menus whole', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width: 390, height: 844 })
    await recordCalls(test, [{ id: 'a', op_name: 'first' }])
    await page.goto(`${url}/acme/demo/weave/calls?op=fir&all=1#key=${key}`)
    await page.locator('a.row').first().waitFor()
    const field = page.getByLabel('Costs more than, $')
    await expect.poll(() => field.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filter (1)' }).click()
    await field.fill('5')
    await page.getByText('No calls match the filter.').waitFor()
    await field.fill('')
    await page.locator('a.row').first().waitFor()
    for (const words of ['Columns', 'Add to a queue']) {
      await page.locator('summary', { hasText: words }).click()
      const { x, width } = (await page.locator('.menu-body').boundingBox())!
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(390)
      await page.keyboard.press('Escape')
    }
  })
})
