import { describe, expect, it } from 'vitest'
import { buildAgentsApp } from '../../agents/agents-fixtures.ts'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

const BEGIN_MS = Date.now() - 600_000

const spent = (tokens: number) => ({
  usage: { small: { prompt_tokens: tokens, completion_tokens: 0 } },
})

/** A conversation of two turns, the second with a tool that failed below it and feedback. */
async function openThreads() {
  const test = await openPage()
  const turn = { thread_id: 'talk', trace_id: 'trace' }
  await recordCalls(test, [
    {
      ...turn,
      id: 't1',
      turn_id: 't1',
      started_at_ms: BEGIN_MS,
      inputs: { question: 'Where is my order?' },
      output: 'Which one?',
      summary: spent(5),
    },
    {
      ...turn,
      id: 't2',
      turn_id: 't2',
      started_at_ms: BEGIN_MS + 5000,
      inputs: { question: 'Number 7.' },
      output: 'It is lost.',
    },
    {
      id: 's1',
      parent_id: 't2',
      op_name: 'chat',
      started_at_ms: BEGIN_MS + 5100,
      summary: spent(70),
    },
    {
      id: 's2',
      parent_id: 't2',
      op_name: 'find_order_tool',
      started_at_ms: BEGIN_MS + 5200,
      inputs: { number: 7 },
      exception: 'KeyError: 7',
    },
  ])
  const about = (value: number) => ({
    project_id: PROJECT,
    weave_ref: `weave:///${PROJECT}/call/t2`,
    feedback_type: 'rating',
    payload: { value },
  })
  for (const value of [2, 3])
    expect((await test.post('/traces/feedback/create', about(value))).status).toBe(200)
  await test.page.goto(`${test.url}/${PROJECT}/weave/threads#key=${test.key}`)
  return test
}

describe.skipIf(!hasBrowser)('conversations in a browser', () => {
  it('are listed with what was said first, by whom, and what they cost and were worth', async () => {
    const { page, complaints } = await openThreads()
    const row = page.getByRole('table', { name: 'Threads' }).locator('tbody tr')
    await row.getByRole('link', { name: 'Where is my order?' }).waitFor()
    await expect
      .poll(() => row.locator('td').allTextContents())
      .toEqual([
        ...['Where is my order?', 'talk', 'User One', '2', expect.stringContaining('ago')],
        ...['1.00 s', '75', '', 'rating 2.5'],
      ])
    expect(await findBarriers(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('read as one chat, with the calls of a turn folded and their bodies read when they are opened', async () => {
    const { page, complaints } = await openThreads()
    await page.getByRole('link', { name: 'Where is my order?' }).click()
    const turn = page.locator('.turn').last()
    await turn.getByText('1 × model, 1 × tool').waitFor()
    expect(await page.locator('.turn').first().locator('.turn-steps').count()).toBe(0)
    expect(await turn.getByText('1 failed').count()).toBe(1)
    expect(await page.getByText('KeyError').count()).toBe(0)
    await turn.getByText('1 × model, 1 × tool').click()
    await turn.getByText('find_order_tool').click()
    await turn.getByText('KeyError: 7').waitFor()
    await turn.locator('.json-name', { hasText: 'number' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await turn.getByRole('link', { name: 'in the trace' }).click()
    await page.getByRole('heading', { name: 'find_order_tool' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('show what a turn has called and spent since, when they are refreshed', async () => {
    const test = await openThreads()
    const { page, url } = test
    await page.goto(`${url}/${PROJECT}/weave/threads/talk`)
    const turn = page.locator('.turn').last()
    await turn.getByText('1 × model, 1 × tool').waitFor()
    await turn.getByText('70 tokens').waitFor()
    const started_at_ms = BEGIN_MS + 5300
    const call = { id: 's3', parent_id: 't2', op_name: 'chat', started_at_ms, summary: spent(30) }
    await recordCalls(test, [call])
    await page.getByRole('button', { name: 'Refresh' }).click()
    await turn.getByText('2 × model, 1 × tool').waitFor()
    await turn.getByText('100 tokens').waitFor()
  })

  it('of agents are listed and read as one chat, with tools folded', async () => {
    const test = await openPage()
    await buildAgentsApp(async () => test)
    const { page, url, key, complaints } = test
    await page.goto(`${url}/${PROJECT}/weave/threads#key=${key}`)
    await page.getByRole('button', { name: 'Agents' }).click()
    const row = page.getByRole('table', { name: 'Conversations of agents' }).locator('tbody tr')
    const link = row.getByRole('link', { name: 'What is one?' })
    await link.waitFor()
    expect((await row.locator('td').allTextContents()).slice(1, 4)).toEqual(['talk', 'helper', '2'])
    expect(await findBarriers(page)).toEqual([])
    await link.click()
    await expect.poll(() => page.locator('.turn').count()).toBe(2)
    const last = page.locator('.turn').last()
    expect(await last.locator('.message[data-role=user]').textContent()).toContain('What is two?')
    expect(await last.locator('.message[data-role=assistant]').last().textContent()).toContain(
      'answer 2',
    )
    const result = last.getByText('tool says 2')
    expect(await result.isVisible()).toBe(false)
    await last.getByText('add', { exact: true }).click()
    await result.waitFor()
    expect(await findBarriers(page)).toEqual([])
    await last.getByRole('link', { name: 'trace' }).click()
    await page.getByRole('heading', { name: 'invoke_agent helper' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('say that a first message is too long for the list', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const question = 'word '.repeat(300_000)
    await recordCalls(test, [{ id: 'a', thread_id: 'talk', turn_id: 'a', inputs: { question } }])
    await page.goto(`${url}/${PROJECT}/weave/threads#key=${key}`)
    await page.getByRole('link', { name: 'over 1 MiB: open the conversation to read it' }).waitFor()
  })

  it('of agents come in pages, the newest first', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await buildAgentsApp(async () => test)
    const asked: unknown[] = []
    await page.route('**/agents/conversations/chat', async (route) => {
      const { offset } = route.request().postDataJSON()
      asked.push(offset)
      const response = await route.fetch()
      await route.fulfill({ json: { ...(await response.json()), has_more: offset < 40 } })
    })
    await page.goto(`${url}/${PROJECT}/weave/threads/c1?kind=agents#key=${key}`)
    await page.getByRole('button', { name: 'Earlier turns' }).click()
    await page.getByRole('button', { name: 'Later turns' }).waitFor()
    await page.getByRole('button', { name: 'Earlier turns' }).click()
    await expect.poll(() => asked).toEqual([0, 20, 40])
    await page.getByText('This conversation has no turns').waitFor()
    await page.goBack()
    await expect.poll(() => new URL(page.url()).searchParams.get('skip')).toBe('20')
  })
})
