import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, launchBrowser, openPage, PROJECT, recordCalls } from './browser.ts'

/** Machines that do other work take their time. */
const WAIT = { timeout: 30_000 }

/** In every field that the page shows. */
const MARKUP = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>'

describe.skipIf(!hasBrowser)('the page in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  it('signs in with a key, tells of a wrong one, and opens no dialog of the browser', async () => {
    const { page, url, key, complaints } = await openPage(browser)
    await page.goto(url)
    await page.fill('#key', 'wk_wrong')
    await page.click('text=Sign in')
    await page.getByRole('alert').waitFor()
    await page.fill('#key', key)
    await page.click('text=Sign in')
    await page.getByText('No calls in this time').waitFor()
    expect(complaints).toEqual([])
  })

  it('signs in by a link, whose key leaves the address', async () => {
    const { page, url, key } = await openPage(browser)
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.getByText('No calls in this time').waitFor()
    expect(page.url()).not.toContain(key)
    await page.reload()
    await page.getByText('No calls in this time').waitFor()
  })

  it('signs out when the key is revoked, and says why', async () => {
    const test = await openPage(browser)
    const { page, url, deps, createKey } = test
    const key = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.getByText('No calls in this time').waitFor()
    const listed = await deps.keys.listKeys()
    await deps.keys.revokeKey(listed.at(-1)!.id)
    await page.getByText('was revoked').waitFor({ timeout: 30_000 })
  })

  it('says what a key lacks', async () => {
    const { page, url, createKey } = await openPage(browser)
    const key = await createKey({ scopes: ['inference'] })
    await page.goto(`${url}/#key=${key}`)
    await page.getByText('lacks the scope traces:read').waitFor()
  })

  it('shows calls as they arrive, live', async () => {
    const test = await openPage(browser)
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    const figure = page.locator('.figure', { hasText: 'calls' }).locator('.value')
    await figure.waitFor()
    expect(await figure.textContent()).toBe('1')
    expect(await page.locator('.chart canvas').count()).toBeGreaterThan(0)
    await recordCalls(test, [{ id: 'b' }, { id: 'c' }])
    await expect.poll(() => figure.textContent(), WAIT).toBe('3')
  })

  it('filters calls by what the address says, and saves them all', async () => {
    const test = await openPage(browser)
    const { page, url, key, complaints } = test
    await recordCalls(test, [
      { id: 'a', op_name: 'first', inputs: { question: 'Why?' } },
      { id: 'b', op_name: 'second', exception: 'it broke' },
    ])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await expect.poll(() => page.locator('a.row').count(), WAIT).toBe(2)
    await page.getByLabel('Status').selectOption('error')
    await expect.poll(() => page.locator('a.row').allTextContents(), WAIT).toHaveLength(1)
    expect(page.url()).toContain('status=error')
    await page.reload()
    await page.getByText('it broke').waitFor()
    await page.getByLabel('Status').selectOption('')
    await page.getByLabel('Text in inputs or output').fill('why')
    await expect
      .poll(() => page.locator('a.row').allTextContents(), WAIT)
      .toEqual([expect.stringContaining('first')])
    for (const [kind, expected] of [
      ['JSONL', '"op_name":"first"'],
      ['CSV', 'id,trace_id,op_name'],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click(`text=Export ${kind}`),
      ])
      expect(await readFile(await download.path(), 'utf8')).toContain(expected)
    }
    expect(complaints).toEqual([])
  })

  it('opens a trace of thousands of calls by the link that the SDK prints, with few rows in the document', async () => {
    const test = await openPage(browser)
    const { page, url, key } = test
    const calls = Array.from({ length: 3000 }, (_, at) => ({
      id: `c${at}`,
      ...(at === 0 ? {} : { parent_id: `c${Math.floor((at - 1) / 3)}` }),
    }))
    await recordCalls(test, calls)
    await page.goto(`${url}/acme/demo/r/call/c7#key=${key}`)
    await page.getByText('3,000 calls').waitFor()
    expect(await page.locator('.trace-row').count()).toBeLessThan(100)
    await expect.poll(() => page.locator('.detail .facts').textContent(), WAIT).toContain('c7')
    await page.locator('.tree').getByText('Fold', { exact: true }).click()
    await expect.poll(() => page.locator('.trace-row').count(), WAIT).toBe(4)
  })

  it('shows texts as texts, whatever is in them, and takes feedback', async () => {
    const test = await openPage(browser)
    const { page, url, key, post, complaints } = test
    await recordCalls(test, [
      {
        ...{
          id: 'x',
          op_name: MARKUP,
          exception: MARKUP,
          output: { role: 'assistant', content: MARKUP },
        },
        inputs: { messages: [{ role: MARKUP, content: MARKUP }], [MARKUP]: MARKUP },
      },
    ])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await page.locator('a.row').click()
    await page.locator('.message').first().waitFor()
    await page.getByLabel('Good').click()
    await page.locator('.feedback li').waitFor()
    await page.getByLabel('A note or a number').fill(MARKUP)
    await page.getByText('Add', { exact: true }).click()
    await expect.poll(() => page.locator('.feedback li').count(), WAIT).toBe(2)
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    const stored = await post('/feedback/query', { project_id: PROJECT, fields: ['payload'] })
    expect(stored.body.result.map(({ payload }: { payload: object }) => payload)).toEqual(
      expect.arrayContaining([expect.objectContaining({ emoji: '👍' }), { note: MARKUP }]),
    )
    expect(complaints).toEqual([])
  })

  it('has nothing that a reader of screens stumbles over', async () => {
    const test = await openPage(browser)
    const { page, url, key } = test
    await recordCalls(test, [
      { id: 'a', inputs: { messages: [{ role: 'user', content: 'Why?' }] } },
    ])
    const source = await readFile(
      createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
      'utf8',
    )
    for (const [path, sign] of [
      ['/acme/demo/weave', '.figure'],
      ['/acme/demo/weave/calls', 'a.row'],
      ['/acme/demo/r/call/a', '.message'],
      ['/acme/demo/weave/playground', '.settings'],
      ['/acme/empty/weave', '.first'],
    ] as const) {
      await page.goto(`${url}${path}#key=${key}`)
      await page.locator(sign).first().waitFor()
      await page.evaluate(source)
      const serious = await page.evaluate(
        `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
      )
      expect([path, serious]).toEqual([path, []])
    }
  })
})
