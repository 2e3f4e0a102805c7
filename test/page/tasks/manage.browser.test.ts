import { describe, expect, it } from 'vitest'
import { claim, createJobs, report } from '../../training/worker-fixtures.ts'
import { hasBrowser, openPage, recordCalls } from '../browser.ts'
import { createKeys, createMouse, expectCounts, openFirstView } from './hands.ts'

async function openProject() {
  const test = await openPage()
  await recordCalls(test, [{ id: 'a' }])
  return test
}

describe.skipIf(!hasBrowser)('tasks of those who run the server', () => {
  it('a key for a colleague', async () => {
    const test = await openProject()
    const { page, get } = test
    await page.context().grantPermissions(['clipboard-write'])
    const mouse = createMouse(await openFirstView(test))
    await mouse.click(mouse.page.getByRole('link', { name: 'Keys', exact: true }))
    await mouse.click(mouse.page.getByLabel('User', { exact: true }))
    await mouse.type('ada')
    await mouse.click(mouse.page.getByText('Copy a link that signs in'))
    const keys = createKeys(await openFirstView(test))
    await keys.press('g', 'k')
    await keys.tabTo(keys.page.getByLabel('User', { exact: true }))
    await keys.type('grace')
    await keys.press('Enter')
    await keys.tabTo(keys.page.getByText('Copy a link that signs in'))
    await keys.press('Enter')
    for (const { page } of [mouse, keys]) await page.getByText('copied').waitFor()
    const { data } = (await get('/v1/keys')).body
    const users = data.map(({ svc_user_id }: { svc_user_id: string }) => svc_user_id)
    expect(users).toEqual(expect.arrayContaining(['ada', 'grace']))
    expectCounts('Make a key for a colleague', mouse, keys)
  })

  it('a training run that goes on', async () => {
    const test = await openProject()
    await createJobs(test, 1, { name: 'owl' })
    const claimed = await claim(test)
    const mouse = createMouse(await openFirstView(test))
    await mouse.click(mouse.page.getByRole('link', { name: 'Training', exact: true }))
    await mouse.click(mouse.page.getByRole('table', { name: 'Jobs' }).getByRole('link').first())
    const keys = createKeys(await openFirstView(test))
    await keys.press('g', 'r')
    await keys.tabTo(keys.page.getByRole('table', { name: 'Jobs' }).getByRole('link').first(), 'j')
    await keys.press('Enter')
    const pages = [mouse, keys].map(({ page }) => page)
    for (const page of pages) await page.getByText('live').waitFor()
    const events = [{ seq: 0, type: 'gradient_step', data: { reward: 0.5 } }]
    await report(test, claimed, 'events', { events })
    for (const page of pages)
      await page.getByRole('table', { name: 'Events' }).getByText('gradient_step').waitFor()
    expectCounts('Watch a training run', mouse, keys)
  })
})
