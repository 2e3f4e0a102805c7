import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

const OTHER = 'acme/other'

async function openTwoProjects() {
  const test = await openPage()
  const { page, url, key, post } = test
  await recordCalls(test, [{ id: 'call-in-demo' }, { id: 'failed-in-demo', exception: 'no' }])
  const started_at = new Date().toISOString()
  const start = { project_id: OTHER, id: 'b', op_name: 'answer', attributes: {}, inputs: {} }
  expect((await post('/call/start', { start: { ...start, started_at } })).status).toBe(200)
  await page.goto(`${url}/${PROJECT}/weave#key=${key}`)
  await page.locator('.figure').first().waitFor()
  return test
}

describe.skipIf(!hasBrowser)('the frame around each view', () => {
  it('leads to views and projects by typing, and to a call by its id or that of its trace', async () => {
    const { page, complaints } = await openTwoProjects()
    const palette = page.getByRole('dialog', { name: 'Search or go to' })
    const field = palette.getByRole('combobox')
    const chosen = palette.getByRole('option', { selected: true })
    const open = async (text: string) => {
      await expect.poll(() => palette.count()).toBe(0)
      await page.keyboard.press('Control+k')
      await field.fill(text)
    }
    await open('')
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => chosen.textContent()).toContain('Traces')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/${PROJECT}/weave/calls`)
    await expect.poll(() => palette.count()).toBe(0)
    await open('other')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/${OTHER}/weave`)
    await page.goBack()
    for (const id of ['failed-in-demo', 'trace-none', 'trace']) {
      await open(id)
      await palette.getByRole('option').last().waitFor()
      if (id === 'trace-none') {
        await page.keyboard.press('Enter')
        await palette.getByText(`${PROJECT} has no call and no trace with this id.`).waitFor()
        await page.keyboard.press('Escape')
      } else if (id === 'trace') {
        // Shorter than an id: it is a part of a text.
        await palette.getByText('Calls that contain “trace”').click()
        await expect.poll(() => new URL(page.url()).searchParams.get('text')).toBe('trace')
      } else {
        await page.keyboard.press('Enter')
        await expect.poll(() => new URL(page.url()).pathname).toBe(`/${PROJECT}/weave/calls/${id}`)
      }
    }
    expect(complaints).toEqual([])
  })

  it('has keys for its views, which a sheet lists, and none while one types', async () => {
    const { page, complaints } = await openTwoProjects()
    const path = () => new URL(page.url()).pathname
    for (const key of ['g', 'q']) await page.keyboard.press(key)
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await sheet.getByText('Traces').waitFor()
    expect(await findBarriers(page)).toEqual([])
    // A sheet is left before anything else is done.
    for (const key of ['g', 't', 'Escape']) await page.keyboard.press(key)
    await expect.poll(() => sheet.count()).toBe(0)
    expect(path()).toBe(`/${PROJECT}/weave/queues`)
    for (const key of ['g', 't']) await page.keyboard.press(key)
    await expect.poll(path).toBe(`/${PROJECT}/weave/calls`)
    const field = page.locator('main input:not([type=checkbox])').first()
    await field.focus()
    for (const key of ['g', 'o', '?', '[']) await page.keyboard.press(key)
    expect(await field.inputValue()).toBe('go?[')
    expect(path()).toBe(`/${PROJECT}/weave/calls`)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('collapses its rail to icons with names, and remembers it', async () => {
    const { page } = await openTwoProjects()
    const width = async () => (await page.locator('.rail').boundingBox())!.width
    expect(await width()).toBeGreaterThan(200)
    await page.getByRole('button', { name: 'Collapse the menu' }).click()
    await expect.poll(width).toBeLessThan(60)
    expect(await findBarriers(page)).toEqual([])
    await page.reload()
    await page.getByRole('link', { name: 'Conversations', exact: true }).click()
    await expect.poll(width).toBeLessThan(60)
    await page.getByRole('button', { name: 'Expand the menu' }).click()
    await expect.poll(width).toBeGreaterThan(200)
  })

  it('finds projects by their names, with the calls and the cost of 30 days and the last call', async () => {
    const { page, url } = await openTwoProjects()
    await page.getByRole('button', { name: `Project: ${PROJECT}` }).click()
    const list = page.getByRole('dialog', { name: 'Project' })
    await list.getByText('2 calls').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.type('OTHER')
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/${OTHER}/weave`)
    await expect.poll(() => list.isVisible()).toBe(false)
    await page.goto(url)
    const row = page.getByRole('table', { name: 'Projects' }).getByRole('row', { name: PROJECT })
    await expect
      .poll(async () => (await row.getByRole('cell').allTextContents()).slice(0, 3))
      .toEqual(['2', '1', '–'])
    const last = row.locator('time')
    expect(await last.textContent()).toMatch(/ago$/)
    expect(await last.getAttribute('title')).toMatch(/^\d{4}-\d{2}-\d{2} [\d:.]{12}$/)
    await page.getByLabel('Search projects').fill('no such')
    await page.getByText('No project has this in its name.').waitFor()
  })

  it('reads the facts of a project once for all that show them', async () => {
    const { page, url } = await openTwoProjects()
    const asked: string[] = []
    const released = Promise.withResolvers<void>()
    await page.route('**/calls/stats', async (route) => {
      asked.push(route.request().postDataJSON().project_id)
      await released.promise
      await route.continue()
    })
    await page.goto(url)
    await expect.poll(() => asked.length).toBe(2)
    await page.getByRole('button', { name: /^Project: / }).click()
    const list = page.getByRole('dialog', { name: 'Project' })
    await expect.poll(() => list.getByRole('listitem').count()).toBe(2)
    // Effects run after the next frame.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))')
    released.resolve()
    await list.getByText('2 calls').waitFor()
    expect(asked.sort()).toEqual([PROJECT, OTHER].sort())
  })

  it('says where one is, and leads up from there', async () => {
    const { page, url, post } = await openTwoProjects()
    await page.goto(`${url}/${PROJECT}/weave/calls/call-in-demo`)
    const steps = page.getByRole('navigation', { name: 'Breadcrumb' })
    await expect
      .poll(() => steps.getByRole('listitem').allTextContents())
      .toEqual([PROJECT, 'Traces', 'answer'])
    const project_id = PROJECT
    const scorer = { kind: 'rule', rule: { type: 'latency', max_ms: 1 } }
    const evaluator = await post('/evaluators', { project_id, name: 'fast', scorer })
    const fields = { name: 'To check', scorer_refs: [] }
    const queue = await post('/annotation_queues', { project_id, ...fields })
    for (const [path, names] of [
      [`evaluators/${evaluator.body.id}`, ['Evaluators', 'fast']],
      [`queues/${queue.body.id}`, ['Queues', 'To check']],
      ['evaluations/new', ['Evaluations', 'Run an evaluation']],
      ['none', ['Unknown view']],
      ['calls/call-in-demo', ['Traces', 'answer']],
    ] as const) {
      await page.goto(`${url}/${PROJECT}/weave/${path}`)
      await expect
        .poll(() => steps.getByRole('listitem').allTextContents())
        .toEqual([PROJECT, ...names])
    }
    await steps.getByRole('link', { name: 'Traces' }).click()
    await page.locator('.row.call').first().waitFor()
    const current = page.locator('.rail [aria-current=page]')
    expect(await current.allTextContents()).toEqual(['Traces'])
    await page.goto(`${url}/keys`)
    await expect.poll(() => current.allTextContents()).toEqual(['Keys'])
    // The views of the last project stay in reach.
    await page.getByRole('link', { name: 'Overview' }).click()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/${PROJECT}/weave`)
  })
})
