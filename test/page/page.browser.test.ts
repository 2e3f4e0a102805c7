import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from './browser.ts'

describe.skipIf(!hasBrowser)('the page in a browser', () => {
  it('signs in with a key, tells of a wrong one, and opens no dialog of the browser', async () => {
    const { page, url, key, complaints } = await openPage()
    await page.goto(url)
    await page.locator('#key:focus').waitFor()
    await page.fill('#key', 'wk_wrong')
    await page.click('text=Sign in')
    await page.getByRole('alert').waitFor()
    await page.fill('#key', key)
    await page.click('text=Sign in')
    await page.getByText('No calls yet').waitFor()
    expect(complaints).toEqual([])
  })

  it('signs in by a link, whose key leaves the address', async () => {
    const { page, url, key } = await openPage()
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.getByText('No calls yet').waitFor()
    await expect.poll(() => page.url()).not.toContain(key)
    await page.reload()
    await page.getByText('No calls yet').waitFor()
    // A tab beside it need not be signed in again, and both are signed out together.
    const other = await page.context().newPage()
    await other.goto(`${url}/acme/demo/weave/objects`)
    await other.getByText('No objects yet').waitFor()
    await other.getByText('Sign out').click()
    await page.locator('#key:focus').waitFor()
    await page.reload()
    await page.locator('#key:focus').waitFor()
  })

  it('signs out when the key is revoked, and says why', async () => {
    const test = await openPage()
    const { page, url, deps, createKey } = test
    const key = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.getByText('No calls yet').waitFor()
    const listed = await deps.keys.listKeys()
    await deps.keys.revokeKey(listed.at(-1)!.id)
    await page.getByText('was revoked').waitFor()
  })

  it('says when the server does not answer, and goes on when it does', async () => {
    const { page, url, key } = await openPage()
    await page.route('**/me', (route) => route.abort())
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.getByText('The server does not answer.').waitFor()
    await page.unroute('**/me')
    await page.click('text=Try again')
    await page.getByText('No calls yet').waitFor()
  })

  it('waits for a slow answer however long it takes', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.route('**/calls/stats', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 7000))
      await route.continue()
    })
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    await page.locator('.figure').first().waitFor()
  })

  it('signs in a key that only uses models, and leads it to the playground', async () => {
    const { page, url, createKey } = await openPage()
    const key = await createKey({ scopes: ['inference'], projects: ['acme/demo'] })
    await page.goto(`${url}/#key=${key}`)
    await page.getByRole('main').getByRole('link', { name: 'acme/demo' }).click()
    await page.getByText('lacks the scope traces:read').waitFor()
    const views = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
    expect(await views.allTextContents()).toEqual(['Playground'])
    await page.getByRole('main').getByText('playground').click()
    await page.getByLabel('Message', { exact: true }).waitFor()
  })

  it('leads a key that only reads nowhere else, and says that a project is not known', async () => {
    const { page, url, createKey } = await openPage()
    const key = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/acme/misspelt/weave/calls#key=${key}`)
    await page.getByText('Nothing was ever written to the project acme/misspelt').waitFor()
    const views = page.getByRole('navigation', { name: 'Views' })
    await views.getByText('Objects').waitFor()
    await expect.poll(() => views.getByText(/Playground|Training/).count()).toBe(0)
  })

  it('shows calls as they arrive, live', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [{ id: 'a' }])
    await page.clock.install()
    await page.goto(`${url}/acme/demo/weave#key=${key}`)
    const figure = page.locator('.figure', { hasText: 'calls' }).locator('.value')
    await figure.waitFor()
    await expect.poll(() => figure.textContent()).toBe('1')
    const cost = page.locator('.figure', { hasText: 'cost' }).locator('.value')
    await expect.poll(() => cost.textContent()).toBe('–')
    await expect.poll(() => page.locator('.chart canvas').count()).toBeGreaterThan(0)
    await recordCalls(test, [{ id: 'b' }, { id: 'c' }])
    await page.clock.fastForward(5000)
    await expect.poll(() => figure.textContent()).toBe('3')
  })

  it('returns to the rows that were visible in a list, whatever was added since', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const newest = Date.now() - 120_000
    const calls = Array.from({ length: 300 }, (_, at) => {
      return { id: `c${at}`, op_name: `op${at}`, started_at_ms: newest - at }
    })
    await recordCalls(test, calls)
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await page.getByText('300 calls', { exact: true }).waitFor()
    const list = page.locator('.window-list')
    const top = () => list.evaluate(({ scrollTop }) => scrollTop)
    await list.evaluate((element) => element.scrollTo(0, 3200))
    const row = page.locator('.row.call', { hasText: 'op100' })
    await row.waitFor()
    await recordCalls(test, [{ id: 'new', op_name: 'new' }])
    await row.click()
    await page.getByRole('heading', { name: 'op100' }).first().waitFor()
    await page.goBack()
    await row.waitFor()
    expect(await top()).toBe(3200)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('301 calls', { exact: true }).waitFor()
    expect(await top()).toBe(0)
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: 'Traces', exact: true }).click()
    await page.getByText('301 calls', { exact: true }).waitFor()
    expect(await top()).toBe(0)
  })

  it('shows the columns that are chosen, those inside of bodies too, and exports them', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    await recordCalls(test, [
      { id: 'a', inputs: { deep: { n: 7, text: MARKUP } }, output: '=1+1' },
      { id: 'b', inputs: { other: 1 } },
    ])
    await page.goto(`${url}/acme/demo/weave/calls?cols=none#key=${key}`)
    await page.getByRole('columnheader', { name: 'Operation' }).waitFor()
    await page.getByText('Columns', { exact: true }).click()
    for (const name of ['Status', 'Latency', 'Tokens', 'Cost', 'Inputs'])
      await page.locator('.menu').getByLabel(name, { exact: true }).click()
    const field = page.getByPlaceholder('inputs.question')
    await field.fill('question')
    await page.keyboard.press('Enter')
    await page.getByText('a path begins with').waitFor()
    for (const path of ['inputs.deep.n', 'inputs.deep.text']) {
      await field.fill(path)
      await page.keyboard.press('Enter')
    }
    const heads = page.locator('[role=columnheader]:not(.pick)')
    await expect
      .poll(() => heads.allTextContents())
      .toEqual(['Started', 'Operation', 'Output', 'inputs.deep.n', 'inputs.deep.text'])
    await expect.poll(() => page.locator('.row.call').last().textContent()).toContain('=1+1')
    await expect.poll(() => page.locator('.row.call').last().textContent()).toContain(`7${MARKUP}`)
    await page.keyboard.press('Escape')
    await page.click('summary:text-is("Export")')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('.menu-body >> text=CSV'),
    ])
    const lines = (await readFile(await download.path(), 'utf8')).split('\r\n')
    expect(lines[0]).toBe(
      'id,trace_id,started_at,op_name,output,exception,inputs.deep.n,inputs.deep.text',
    )
    expect(lines[1]).toContain(`,answer,'=1+1,,7,"<img`)
    expect(lines[2]).toMatch(/^b,trace,.*,answer,,,,$/)
    await expect.poll(() => page.url()).toContain('cols=started')
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('opens a trace of thousands of calls by the link that the SDK prints, with few rows in the document', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const calls = Array.from({ length: 3000 }, (_, at) => ({
      id: `c${at}`,
      ...(at === 0 ? {} : { parent_id: `c${Math.floor((at - 1) / 3)}` }),
    }))
    await recordCalls(test, calls)
    await page.goto(`${url}/acme/demo/r/call/c7#key=${key}`)
    await page.getByText('3,000 calls').waitFor()
    await expect.poll(() => page.locator('.trace-row').count()).toBeLessThan(100)
    await expect.poll(() => page.locator('.detail .facts').textContent()).toContain('c7')
    await page.locator('.tree').getByRole('button', { name: 'Fold all', exact: true }).click()
    await expect.poll(() => page.locator('.trace-row').count()).toBe(4)
  })

  it('shows texts as texts, whatever is in them, and takes feedback', async () => {
    const test = await openPage()
    const { page, url, key, post, complaints } = test
    await recordCalls(test, [
      {
        id: 'x',
        op_name: MARKUP,
        exception: MARKUP,
        output: { role: 'assistant', content: MARKUP },
        inputs: { messages: [{ role: MARKUP, content: MARKUP }], [MARKUP]: MARKUP },
      },
    ])
    await page.goto(`${url}/acme/demo/weave/calls#key=${key}`)
    await page.locator('.row.call').click()
    await page.locator('.message').first().waitFor()
    await page.getByText('Good').click()
    await page.locator('.feedback li').waitFor()
    await page.getByLabel('A note', { exact: true }).fill(MARKUP)
    await page.getByText('Add the note').click()
    await expect.poll(() => page.locator('.feedback li').count()).toBe(2)
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    const stored = await post('/feedback/query', { project_id: PROJECT, fields: ['payload'] })
    expect(stored.body.result.map(({ payload }: { payload: object }) => payload)).toEqual(
      expect.arrayContaining([expect.objectContaining({ emoji: '👍' }), { note: MARKUP }]),
    )
    expect(complaints).toEqual([])
  })

  it('has nothing that a reader of screens stumbles over', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordCalls(test, [
      { id: 'a', inputs: { messages: [{ role: 'user', content: 'Why?' }] } },
    ])
    for (const [path, sign] of [
      ['/acme/demo/weave', '.figure'],
      ['/acme/demo/weave/calls', '.row.call'],
      ['/acme/demo/r/call/a', '.message'],
      ['/acme/demo/weave/playground', '.settings select'],
      ['/acme/empty/weave', '.first'],
    ] as const) {
      await page.goto(`${url}${path}#key=${key}`)
      await page.locator(sign).first().waitFor()
      const serious = await findBarriers(page)
      expect([path, serious]).toEqual([path, []])
    }
  })
})
