import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

const HOUR_MS = 3_600_000

/** Two calls of an operation and one of another, on an overview of six hours. */
async function openOverview() {
  const test = await openPage()
  const started_at_ms = Date.now() - HOUR_MS
  const summary = { usage: { small: { prompt_tokens: 10, completion_tokens: 2 } } }
  await recordCalls(test, [
    { id: 'a', op_name: 'answer', started_at_ms, lasted_ms: 2000, summary },
    { id: 'b', op_name: 'answer', started_at_ms, lasted_ms: 4000, summary },
    { id: 'c', op_name: 'lookup', started_at_ms, lasted_ms: 60_000 },
  ])
  const home = `${test.url}/${PROJECT}/weave?range=6h`
  await test.page.goto(`${home}#key=${test.key}`)
  await test.page.locator('.chart .u-over').first().waitFor()
  return { ...test, home }
}

const titlesOn = (page: Page) => page.locator('.panel h2').allTextContents()

async function addPanel(page: Page, op: string) {
  await page.getByRole('button', { name: 'Add a panel' }).click()
  const form = page.getByRole('dialog', { name: 'Add a panel' })
  await form.getByRole('combobox', { name: /^As/ }).selectOption('max')
  await form.getByLabel('Only these operations').fill(op)
  await form.getByRole('button', { name: 'Add', exact: true }).press('Enter')
  await form.waitFor({ state: 'detached' })
}

const BUILT_IN = ['Calls', 'Errors', 'Latency', 'Tokens by model', 'Cost by model']
const OWN = 'Latency, most: answer'

describe.skipIf(!hasBrowser)('the panels of an overview', () => {
  it('are added, moved and removed by keys, and kept for all readers of the project', async () => {
    const { page, home, createKey, complaints } = await openOverview()
    expect(await titlesOn(page)).toEqual(BUILT_IN)
    await page.getByRole('button', { name: 'Arrange panels' }).press('Enter')
    await page.getByRole('button', { name: 'Add a panel' }).click()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await addPanel(page, 'answer')
    await expect.poll(() => titlesOn(page)).toEqual([...BUILT_IN, OWN])
    const earlier = page.getByRole('button', { name: `Move earlier: ${OWN}` })
    await earlier.focus()
    for (let at = 4; at >= 0; at--) {
      await page.keyboard.press('Enter')
      await page.getByText(`${OWN} is now number ${at + 1}.`).waitFor()
    }
    expect(await titlesOn(page)).toEqual([OWN, ...BUILT_IN])
    // At the begin of the list that tool is off, and another one has the focus.
    expect(await page.evaluate('document.activeElement.dataset.tool')).toBe('later')
    await page.getByRole('button', { name: 'Remove: Errors' }).press('Enter')
    await page.getByText('Errors was removed.').waitFor()
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Remove: Latency')
    expect(await findBarriers(page)).toEqual([])
    // Somebody who may only read.
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.evaluate('sessionStorage.clear()')
    await page.goto('about:blank')
    await page.goto(`${home}#key=${reader}`)
    await expect
      .poll(() => titlesOn(page))
      .toEqual([OWN, ...BUILT_IN.filter((one) => one !== 'Errors')])
    expect(await page.getByRole('button', { name: 'Arrange panels' }).count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('come back as they were at first', async () => {
    const { page } = await openOverview()
    await page.getByRole('button', { name: 'Arrange panels' }).click()
    await page.getByRole('button', { name: 'Remove: Calls' }).click()
    await expect.poll(() => titlesOn(page)).toEqual(BUILT_IN.slice(1))
    await page.getByRole('button', { name: 'Add a panel' }).click()
    await page.getByRole('group', { name: 'Removed charts' }).getByText('Calls').click()
    await expect.poll(() => titlesOn(page)).toEqual([...BUILT_IN.slice(1), 'Calls'])
    page.on('dialog', (dialog) => dialog.accept())
    await page.getByRole('button', { name: 'Reset' }).click()
    await expect.poll(() => titlesOn(page)).toEqual(BUILT_IN)
  })

  it('keep what others have added since they were read', async () => {
    const { page, home, complaints } = await openOverview()
    const other = await page.context().newPage()
    await other.goto(home)
    for (const tab of [page, other])
      await tab.getByRole('button', { name: 'Arrange panels' }).click()
    await addPanel(page, 'answer')
    await addPanel(other, 'lookup')
    await expect.poll(() => titlesOn(other)).toEqual([...BUILT_IN, OWN, 'Latency, most: lookup'])
    expect(complaints).toEqual([])
  })

  it('are those of one arrangement, and at most thirty however many it names', async () => {
    const { page, post } = await openOverview()
    const save = async (object_id: string, panels: readonly object[]) => {
      const classes = { _class_name: 'OverviewPanels', _bases: ['Object', 'BaseModel'] }
      const obj = { project_id: PROJECT, object_id, val: { ...classes, panels } }
      expect((await post('/obj/create', { obj })).status).toBe(200)
    }
    const made = Array.from({ length: 40 }, (_, at) => ({ id: `made-${at}` }))
    await save('a-copy', [{ id: 'calls' }])
    await save('overview-panels', [{ id: 'errors' }, ...made])
    await save('z-copy', [{ id: 'calls' }])
    await page.reload()
    await expect.poll(() => page.locator('[data-panel]').count()).toBe(30)
    expect(await page.locator('[data-panel]').first().getAttribute('data-panel')).toBe('errors')
  })

  it('show their own calls, point at the same time, and zoom together', async () => {
    const { page } = await openOverview()
    await page.getByRole('button', { name: 'Arrange panels' }).click()
    await addPanel(page, 'answer')
    await page.getByRole('button', { name: 'Done' }).click()
    const own = page.locator('.panel', { has: page.getByRole('heading', { name: OWN }) }).last()
    const plot = own.locator('.u-over')
    await plot.waitFor()
    expect(await own.getByRole('slider').getAttribute('aria-label')).toBe(
      `${OWN}: latency up to 4.00 s`,
    )
    await plot.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await plot.boundingBox())!
    await page.mouse.move(x + width / 2, y + height / 2)
    const times = page.locator('.u-legend .u-series:first-child .u-value')
    // The charts without values are not drawn.
    await expect.poll(async () => new Set(await times.allTextContents()).size).toBe(1)
    expect(await times.count()).toBe(4)
    expect(await times.first().textContent()).not.toBe('')
    await page.mouse.down()
    await page.mouse.move(x + width - 2, y + height / 2, { steps: 5 })
    await page.mouse.up()
    await expect.poll(() => page.locator('.stale, [aria-busy=true]').count()).toBe(0)
    expect(new URL(page.url()).searchParams.has('from')).toBe(true)
    const slider = own.getByRole('slider')
    await slider.focus()
    const buckets = Number(await slider.getAttribute('aria-valuemax'))
    for (let at = 0; at <= buckets; at++) {
      if ((await slider.getAttribute('aria-valuetext'))?.includes('4.00 s')) break
      await page.keyboard.press('ArrowLeft')
    }
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.row.call').count()).toBe(2)
    expect(new URL(page.url()).searchParams.get('q')).toBe('op="answer"')
  })
})
