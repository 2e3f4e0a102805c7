import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, openPage, PROJECT, recordCalls } from '../browser.ts'

const BEGIN_MS = Date.now() - 600_000

async function openList(count: number) {
  const test = await openPage()
  const { page, url, key } = test
  const calls = Array.from({ length: count }, (_, at) => ({
    id: `c${at}`,
    op_name: `op${at}`,
    started_at_ms: BEGIN_MS - at,
  }))
  await recordCalls(test, calls)
  await page.goto(`${url}/${PROJECT}/weave/calls#key=${key}`)
  await page.getByText(`${count} calls`, { exact: true }).waitFor()
  const title = page.getByRole('dialog').locator('h1')
  const openOf = () => new URL(page.url()).searchParams.get('open')
  return { ...test, title, openOf }
}

describe.skipIf(!hasBrowser)('a trace over the list of calls', () => {
  it('is walked by keys and buttons, and leaves the list where it was', async () => {
    const { page, title, openOf, complaints } = await openList(300)
    const list = page.getByRole('rowgroup', { name: 'Calls' })
    await list.evaluate((element) => element.scrollTo(0, 3400))
    const row = page.locator('.row.call', { hasText: 'op105' })
    await row.click()
    await expect.poll(() => title.textContent()).toBe('op105')
    expect(openOf()).toBe('c105')
    await page.getByText('106 of 300').waitFor()
    expect(await findBarriers(page)).toEqual([])
    for (const [key, op] of [
      ['j', 'op106'],
      ['j', 'op107'],
      ['k', 'op106'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(() => title.textContent()).toBe(op)
    }
    await page.getByRole('button', { name: 'Next call of the list' }).click()
    await expect.poll(() => title.textContent()).toBe('op107')
    // Letters in a field are letters.
    await page.getByRole('dialog').getByPlaceholder('find in the whole trace').press('j')
    expect(openOf()).toBe('c107')
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    // One goes on from the call that was seen last.
    await page.locator('.row.call:focus-within', { hasText: 'op107' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => title.textContent()).toBe('op107')
    await page.reload()
    await expect.poll(() => title.textContent()).toBe('op107')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(openOf()).toBeNull()
    expect(complaints).toEqual([])
  })

  it('is closed by the back button, by its own, and beside it', async () => {
    const { page, title, openOf } = await openList(60)
    const list = page.getByRole('rowgroup', { name: 'Calls' })
    await list.evaluate((element) => element.scrollTo(0, 680))
    for (const close of [
      () => page.goBack(),
      () => page.getByRole('button', { name: 'Close', exact: true }).click(),
      () => page.mouse.click(5, 400),
    ]) {
      await page.locator('.row.call', { hasText: 'op25' }).click()
      await expect.poll(() => title.textContent()).toBe('op25')
      await close()
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
      expect(await list.evaluate(({ scrollTop }) => scrollTop)).toBe(680)
      expect(openOf()).toBeNull()
    }
    await page.locator('.row.call', { hasText: 'op25' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Open', exact: true }).click()
    await page.locator('main .trace h1').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/${PROJECT}/weave/calls/c25`)
  })

  it('shows a call of a link that is not among the rows, without a way to others', async () => {
    const test = await openList(3)
    const { page, title, url } = test
    await page.goto(`${url}/${PROJECT}/weave/calls?q=op%3Aop1&open=c2`)
    await expect.poll(() => title.textContent()).toBe('op2')
    expect(await page.getByRole('button', { name: 'Next call of the list' }).isDisabled()).toBe(
      true,
    )
    await page.goto(`${url}/${PROJECT}/weave/calls?open=none`)
    await page.getByRole('dialog').getByText('There is no such call').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.row.call').count()).toBe(3)
  })

  it('jumps to the first error and the slowest call, finds in bodies, and shows tools with their results', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const tool_calls = [{ id: 't1', function: { name: 'search', arguments: '{"city":"Oslo"}' } }]
    const messages = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: 't1', content: '{"sky":"clear"}' },
      { role: 'tool', tool_call_id: 'other', content: 'alone' },
    ]
    await recordCalls(test, [
      { id: 'root', op_name: 'agent', started_at_ms: BEGIN_MS, lasted_ms: 5000, exception: 'E' },
      {
        id: 'one',
        parent_id: 'root',
        op_name: 'first',
        started_at_ms: BEGIN_MS + 1,
        lasted_ms: 4000,
      },
      {
        id: 'two',
        parent_id: 'root',
        op_name: 'chat',
        started_at_ms: BEGIN_MS + 4100,
        lasted_ms: 200,
        exception: 'E',
        inputs: { model: 'owl', messages },
      },
    ])
    await page.goto(`${url}/${PROJECT}/weave/calls?open=root#key=${key}`)
    const title = page.getByRole('dialog').locator('h1')
    await page.getByText('First error').click()
    await expect.poll(() => title.textContent()).toBe('chat')
    const card = page.locator('.tool-call')
    await expect.poll(() => card.textContent()).toMatch(/search.*city.*Oslo.*result.*sky.*clear/s)
    expect(await page.locator('.message').allTextContents()).toHaveLength(3)
    expect(await page.locator('.message').last().textContent()).toContain('alone')
    await page.getByText('Slowest').click()
    await expect.poll(() => title.textContent()).toBe('first')
    const find = page.getByPlaceholder('find in the whole trace')
    await find.fill('oslo')
    await page.getByText('0 of 1', { exact: true }).waitFor()
    const marked = () =>
      page.evaluate('[...(CSS.highlights.get("found") ?? [])].map(String)') as Promise<string[]>
    expect(await marked()).toEqual([])
    await find.press('Enter')
    await expect.poll(() => title.textContent()).toBe('chat')
    // The body arrives after the text was typed.
    await expect.poll(marked).toEqual(['Oslo'])
    await find.fill('')
    await expect.poll(marked).toEqual([])
    await find.fill('oslo')
    // What closes the drawer keeps the call that was selected in it.
    expect(new URL(page.url()).searchParams.get('call')).toBe('two')
    await page.getByRole('dialog').getByRole('link', { name: 'Open', exact: true }).click()
    await page.locator('main .trace h1').waitFor()
    await page.goBack()
    expect(new URL(page.url()).searchParams.get('open')).toBe('root')
    await page.goForward()
    await page.locator('main .trace h1').waitFor()
    expect(new URL(page.url()).searchParams.get('call')).toBe('two')
    await page.goBack()
    await page.locator('summary', { hasText: 'Copy as' }).click()
    expect(await findBarriers(page)).toEqual([])
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('group', { name: 'Request to this server' }).getByText('curl').click()
    await page.getByText('curl: copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('/v1/chat/completions')
  })
})
