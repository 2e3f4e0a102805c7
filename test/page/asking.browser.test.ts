import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openPage, PROJECT, recordCalls } from './browser.ts'

/** Bodies of the questions to a route, as they are asked. */
function watchQuestions(page: Page, path: string): Record<string, string>[] {
  const bodies: Record<string, string>[] = []
  page.on('request', (request) => {
    if (request.url().endsWith(path)) bodies.push(request.postDataJSON())
  })
  return bodies
}

describe.skipIf(!hasBrowser)('what the page asks its server in a browser', () => {
  it('retries refused requests when the user does something, and not before', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    const questions = watchQuestions(page, '/calls/stream_query')
    let isRefused = true
    await page.route('**/calls/stream_query', (route) =>
      isRefused
        ? route.fulfill({ status: 503, json: { error: { code: 'x', message: 'Not today.' } } })
        : route.continue(),
    )
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await page.getByText('Not today.').waitFor()
    await page.getByText('1 call', { exact: true }).waitFor()
    // As many turns as any number of repeated questions would need.
    await page.evaluate('fetch("/health").then(() => new Promise((end) => setTimeout(end, 200)))')
    expect(questions.length).toBeLessThan(5)
    isRefused = false
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator('.row.call').waitFor()
    await expect.poll(() => page.getByText('Not today.').count()).toBe(0)
    // The count of one filter is not told of the next.
    await page.getByText('1 call', { exact: true }).waitFor()
    await page.route('**/calls/query_stats', (route) => route.abort())
    await page.getByLabel('Search calls').fill('status:error')
    await page.getByText('The server does not answer.').waitFor()
    await page.getByText('… calls').waitFor()
    await page.route('**/calls/stream_query', (route) => route.abort())
    await page.getByLabel('Search calls').fill('status:running')
    await page.locator('.failure').waitFor()
    await page.getByText('The server does not answer.').waitFor()
    // As of a proxy that wants a person to sign in.
    await page.route('**/objs/query', (route) => route.fulfill({ body: '<html>Hello</html>' }))
    await page.route('**/threads/stream_query', (route) =>
      route.fulfill({ body: '{"thread_id":"a' }),
    )
    for (const [link, heading] of [
      ['Objects', 'Objects'],
      ['Conversations', 'Conversations'],
    ] as const) {
      await page.getByRole('link', { name: link }).click()
      await page.getByRole('heading', { name: heading }).waitFor()
      await page.getByText('The answer is not that of the server, or was cut off.').waitFor()
    }
  })

  it('draws the chart of feedback for the time that is chosen', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    await recordCalls(test, [{ id: 'a' }])
    const feedback = {
      project_id: PROJECT,
      weave_ref: `weave:///${PROJECT}/call/a`,
      feedback_type: 'rating',
      payload: { value: 4 },
    }
    expect((await post('/traces/feedback/create', feedback)).status).toBe(200)
    // What the newest note holds hides nothing of the ratings.
    const note = { feedback_type: 'wandb.note.1', payload: { note: 'Right.' } }
    expect((await post('/traces/feedback/create', { ...feedback, ...note })).status).toBe(200)
    const questions = watchQuestions(page, '/feedback/stats')
    await page.goto(`${url}/acme/demo/weave/feedback#key=${key}`)
    await page.getByRole('cell', { name: 'note', exact: true }).waitFor()
    // The feedback has no creator of its own.
    await page.getByRole('cell', { name: 'u-1', exact: true }).first().waitFor()
    await page.getByRole('row', { name: 'value' }).getByRole('button', { name: 'show' }).click()
    await page.locator('.chart canvas').first().waitFor()
    await page.getByRole('button', { name: '7d', exact: true }).click()
    const days = () => {
      const { start = '', end = '' } = questions.at(-1) ?? {}
      return (Date.parse(end) - Date.parse(start)) / 86_400_000
    }
    await expect.poll(days).toBe(7)
  })

  it('shows the beginning of a long trace while the rest is on its way', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const calls = Array.from({ length: 3000 }, (_, at) => ({
      id: `c${at}`,
      started_at_ms: Date.now() - 60_000 + at,
      ...(at === 0 ? {} : { parent_id: 'c0' }),
    }))
    await recordCalls(test, calls)
    await page.addInitScript(`{
      const fetchWhole = fetch
      window.fetch = async (path, asked) => {
        const response = await fetchWhole(path, asked)
        if (!path.endsWith('/stream_query') || !asked.body.includes('trace_ids')) return response
        const lines = (await response.text()).split('\\n')
        const body = new ReadableStream({
          async start(controller) {
            const send = (part) => controller.enqueue(new TextEncoder().encode(part.join('\\n') + '\\n'))
            send(lines.slice(0, 300))
            await new Promise((go) => Object.assign(window, { go }))
            send(lines.slice(300))
            controller.close()
          },
        })
        return new Response(body)
      }
    }`)
    await page.goto(`${url}/acme/demo/weave/calls/c0#key=${key}`)
    await page.getByText('250 … calls').waitFor()
    await page.locator('.trace-row').first().waitFor()
    await page.evaluate('window.go()')
    await page.getByText('3,000 calls').waitFor()
  })

  it('says that it is loading before its first module is there', async () => {
    const { page, url, key } = await openPage()
    const { promise: asked, resolve: go } = Promise.withResolvers<void>()
    await page.route('**/page-entry.ts', (route) => asked.then(() => route.continue()))
    await page.goto(`${url}/acme/demo/weave/queues#key=${key}`, { waitUntil: 'commit' })
    await page.getByText('Loading …').waitFor()
    go()
    await page.getByRole('heading', { name: 'Queues' }).waitFor()
    await expect.poll(() => page.getByText('Loading …').count()).toBe(0)
    expect(await page.locator('main').count()).toBe(1)
  })

  it('adds no history entry for a link to the current address', async () => {
    const { page, url, key } = await openPage()
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    const link = page.getByRole('link', { name: 'Feedback' })
    for (let times = 0; times < 3; times++) await link.click()
    await page.getByRole('heading', { name: 'Feedback' }).waitFor()
    await page.goBack()
    await page.locator('.first').waitFor()
  })
})
