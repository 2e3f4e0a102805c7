import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'
import { publishDataset } from '../evaluations/evaluation-fixtures.ts'

describe.skipIf(!hasBrowser)('the page without data', () => {
  it('distinguishes an empty project from an empty selection', async () => {
    const test = await openPage()
    const { page, url, key, post, complaints } = test
    const open = (path: string) => page.goto(`${url}/${PROJECT}/weave${path}`)
    const says = (words: string) => page.getByText(words).waitFor()
    const time = '?from=2026-01-05T00:00:00Z&to=2026-01-05T01:00:00Z'
    await page.goto(`${url}/#key=${key}`)
    await says('No calls yet')
    const other = { project_id: 'acme/other', op_name: 'op', attributes: {}, inputs: {} }
    await post('/call/start', { start: { ...other, started_at: '2026-01-31T09:30:00Z' } })
    await page.locator('main').getByRole('link', { name: 'acme/other' }).waitFor()
    await open(time)
    await says('No calls yet')
    await open(`/objects?kind=ops`)
    await says('No objects yet')
    await recordCalls(test, [{ id: 'a' }])
    await publishDataset(test, 'questions', [])
    const queue = { project_id: PROJECT, name: 'empty', scorer_refs: [] }
    const { id } = (await post('/annotation_queues', queue)).body
    for (const [path, words] of [
      [time, 'No calls in this time.'],
      [`/calls${time}`, 'No calls in this time.'],
      ['/calls?op=none', 'No calls match the filter.'],
      ['/feedback?range=1h', 'No feedback in this time.'],
      ['/feedback?range=1h&type=none', 'No feedback of this type in this time.'],
      ['/objects?kind=ops', 'No objects of this kind yet.'],
      ['/objects?name=none', 'No objects match the filter.'],
      ['/evaluations', 'No evaluations yet'],
      [
        `/evaluations?evaluation=weave:///${PROJECT}/object/exam:*`,
        'No runs of this evaluation yet.',
      ],
      [`/queues/${id}`, 'Nothing is in this queue yet.'],
    ] as const) {
      await open(path)
      await says(words)
    }
    await open(time)
    await page.getByRole('link', { name: 'the newest calls' }).click()
    await page.locator('.row.call').waitFor()
    await open('/none/1')
    await says('weave/none/1')
    await page.getByRole('link', { name: `the home of ${PROJECT}` }).click()
    await page.locator('.figure').first().waitFor()
    expect(complaints).toEqual([])
  })
})
