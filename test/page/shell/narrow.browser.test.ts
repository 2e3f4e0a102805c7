import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'
import { publishDataset, recordRun } from '../evaluations/evaluation-fixtures.ts'

/** A name as long as one may be that has no place to be broken at. */
const NAME = 'n'.repeat(100)

/** Every view that needs no more than one call and one object. */
const VIEWS = [
  ['/', 'main'],
  ['/acme/demo/weave', '.figure'],
  ['/acme/empty/weave', '.first'],
  ['/acme/demo/weave/calls?all=1', '.row.call'],
  ['/acme/demo/weave/calls/a', '.message'],
  ['/acme/demo/weave/threads', '.list tbody tr'],
  [`/acme/demo/weave/threads/${NAME}`, '.turn footer'],
  [`/acme/demo/weave/feedback?path=${NAME}`, '.chart canvas'],
  ['/acme/demo/weave/queues', 'h1'],
  ['/acme/demo/weave/evaluations', '.grid a'],
  ['/acme/demo/weave/evaluations/run-0', '.figure'],
  ['/acme/demo/weave/evaluations/compare?runs=run-0,run-1', '.compared'],
  ['/acme/demo/weave/evaluators', 'form'],
  ['/acme/demo/weave/objects', '.grid a'],
  ['/acme/demo/weave/objects/questions/versions/latest', '.content .grid'],
  ['/acme/demo/weave/objects/questions/versions/latest?against=v0', '.changes'],
  ['/acme/demo/weave/playground?call=a', '.message'],
  ['/acme/demo/weave/training', 'main .first'],
  ['/acme/demo/weave/training/new', '.choices'],
  ['/acme/demo/weave/none', 'h1'],
  ['/acme/empty/weave/threads', '.first'],
  ['/acme/empty/weave/objects', '.first'],
  ['/acme/empty/weave/evaluations', '.first'],
  ['/keys', 'h1'],
  ['/models', '[aria-label=Models] tbody tr'],
] as const

/** Texts that end in an ellipsis, and have no title to read them in. */
const CUT = `[...document.querySelectorAll('main *')]
  .filter((node) => getComputedStyle(node).textOverflow === 'ellipsis' && node.scrollWidth > node.clientWidth + 1)
  .filter((node) => !node.closest('[title]') && !node.querySelector('[title]'))
  .map((node) => node.outerHTML.slice(0, 200))`

describe.skipIf(!hasBrowser)('the page on a phone, in the dark', () => {
  it('fits every view into its width, with nothing that a reader of screens stumbles over', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    const long = 'x'.repeat(500)
    await recordCalls(test, [
      {
        id: 'a',
        thread_id: NAME,
        turn_id: 'a',
        op_name: long,
        output: long,
        inputs: {
          messages: [
            { role: 'user', content: long },
            { role: NAME, content: '' },
          ],
        },
        summary: { usage: { [NAME]: { total_tokens: 1 } } },
      },
    ])
    for (const name of ['questions', NAME]) await publishDataset(test, name, [{ question: 'Why?' }])
    await publishDataset(test, 'questions', [{ question: long }])
    const weave_ref = `weave:///${PROJECT}/call/a`
    const given = { project_id: PROJECT, weave_ref, feedback_type: NAME, payload: { [NAME]: 5 } }
    expect((await test.post('/traces/feedback/create', given)).status).toBe(200)
    for (const id of ['run-0', 'run-1'])
      await recordRun(test, {
        id,
        name: `${NAME}${id}`,
        evaluation: NAME,
        model: NAME,
        summary: { [NAME]: 1 },
        examples: [{ [NAME]: NAME }],
        outputs: [{ output: NAME, scores: { [NAME]: 1 } }],
      })
    await page.goto(`${url}/#key=${key}`)
    for (const [path, sign] of VIEWS) {
      await page.goto(url + path)
      await page.locator(sign).first().waitFor()
      const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      const cut = await page.evaluate(CUT)
      expect([path, over, cut, await findBarriers(page)]).toEqual([path, 0, [], []])
    }
    expect(complaints).toEqual([])
  }, 90_000)

  it('names what an address leads to if that is not there', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.goto(`${url}/#key=${key}`)
    for (const [path, title, step = title] of [
      ['/calls/none', 'none'],
      ['/calls/a?call=none', 'none', 'answer'],
      ['/threads/none', 'none'],
      ['/evaluations/none', 'none'],
      ['/evaluations/compare?runs=50%25', 'Compare runs'],
      ['/leaderboards/none', 'none'],
      ['/objects/none', 'none'],
      ['/queues/none', 'none'],
      ['/training/none', 'Training job', 'none'],
      ['/alerts/none', 'Alert', 'none'],
      ['/evaluators/none', 'Evaluator', 'none'],
    ] as const) {
      await page.goto(`${url}/${PROJECT}/weave${path}`)
      await page.locator('.notice:not(.waiting)').first().waitFor()
      await page.getByRole('heading', { name: title, level: 1, exact: true }).waitFor()
      const here = page.locator('.breadcrumb [aria-current]')
      await expect.poll(() => here.textContent()).toBe(step)
      expect([path, await findBarriers(page)]).toEqual([path, []])
    }
  })

  it('shows the search with its conditions, its suggestions and menus whole', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await page.setViewportSize({ width: 390, height: 844 })
    await recordCalls(test, [{ id: 'a', op_name: 'first' }])
    await page.goto(`${url}/acme/demo/weave/calls?op=fir&all=1#key=${key}`)
    await page.locator('.row.call').first().waitFor()
    await page.getByRole('button', { name: 'Remove op:fir' }).waitFor()
    const actions = page
      .locator('.list-bar')
      .getByText(/^ ?(Add to a queue|Train on these|Export)$/)
    const tops = await actions.evaluateAll((all) =>
      all.map((action) => action.getBoundingClientRect().bottom),
    )
    expect([tops.length, new Set(tops).size]).toEqual([3, 1])
    const field = page.getByLabel('Search calls')
    await field.fill('cost')
    const offers = (await page.getByRole('listbox').boundingBox())!
    expect(offers.x).toBeGreaterThanOrEqual(0)
    expect(offers.x + offers.width).toBeLessThanOrEqual(390)
    await field.fill('cost>5')
    await page.getByText('No calls match the filter.').waitFor()
    await field.fill('')
    await page.locator('.row.call').first().waitFor()
    await field.press('Escape')
    for (const words of ['Columns', 'Add to a queue']) {
      await page.locator('summary', { hasText: words }).click()
      const { x, width } = (await page.locator('.menu-body').boundingBox())!
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(390)
      await page.keyboard.press('Escape')
    }
  })
})
