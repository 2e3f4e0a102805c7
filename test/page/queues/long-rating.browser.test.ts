import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

describe.skipIf(!hasBrowser)('the rating of a long call', () => {
  it.each([
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ])('cuts its texts, and stays in reach: %j', async (size) => {
    const test = await openPage()
    const { page, url, key, post } = test
    await page.setViewportSize(size)
    const lines = Array.from({ length: 2000 }, (_, at) => `line ${at}`)
    await recordCalls(test, [{ id: 'a', inputs: { lines }, output: lines.join('\n') }])
    const { body: queue } = await post('/annotation_queues', {
      project_id: PROJECT,
      name: 'q',
      scorer_refs: [],
    })
    const items = { project_id: PROJECT, call_ids: ['a'], display_fields: [] }
    await post(`/annotation_queues/${queue.id}/items`, items)
    await page.goto(`${url}/acme/demo/weave/queues/${queue.id}#key=${key}`)
    await page.getByRole('button', { name: 'characters more' }).waitFor()
    const inReach = () =>
      page.evaluate<boolean>(`(() => {
        const { top, bottom } = document.querySelector('.rate button.main').getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })()`)
    for (const place of [0, 0.5, 1]) {
      await page.evaluate(`scrollTo(0, ${place} * document.documentElement.scrollHeight)`)
      await expect.poll(inReach).toBe(true)
    }
    const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect([over, await findBarriers(page)]).toEqual([0, []])
  })
})
