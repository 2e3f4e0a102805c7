import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage } from '../browser.ts'

describe.skipIf(!hasBrowser)('keys and models on the page', () => {
  it('makes a key that is shown once and works, and revokes it', async () => {
    const { page, url, key, complaints, get } = await openPage()
    await page.goto(`${url}/keys#key=${key}`)
    await page.getByText('this is yours').waitFor()
    expect(await page.title()).toBe('keys · Weft')
    await page.getByLabel('User', { exact: true }).fill(MARKUP)
    await page.getByLabel('Projects').fill('acme/demo, acme/other')
    await page.getByLabel(/^inference/).uncheck()
    await page.getByText('Create key').dblclick()
    const secret = String(await page.locator('.secret pre').textContent())
    const me = await get('/me', { key: secret })
    expect(me.body).toMatchObject({
      svc_user_id: MARKUP,
      project_patterns: ['acme/demo', 'acme/other'],
      scopes: ['traces:read', 'traces:write', 'training'],
    })
    expect(await findBarriers(page)).toEqual([])
    await page.getByText('Done', { exact: true }).click()
    await page.locator('.new-key input:focus').waitFor()
    const row = page.locator('[aria-label=Keys] tbody tr', { hasText: MARKUP })
    expect(await row.count()).toBe(1)
    await row.getByText('Revoke', { exact: true }).dblclick()
    await row.getByText('Revoke', { exact: true }).click()
    await row.getByText('Revoke key').click()
    await expect.poll(() => row.count()).toBe(0)
    await page.locator('[aria-label=Keys] button:focus', { hasText: 'Revoke' }).waitFor()
    expect((await get('/me', { key: secret })).status).toBe(401)
    await page.getByLabel('show revoked keys').check()
    await expect.poll(() => row.textContent()).toContain('revoked')
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('shows keys with long names whole', async () => {
    const { page, url, key, post } = await openPage()
    const svc_user_id = 'n'.repeat(128)
    const projects = [`acme/${svc_user_id}`]
    await post('/v1/keys', { svc_user_id, scopes: ['admin', 'inference', 'training'], projects })
    await page.goto(`${url}/keys#key=${key}`)
    await page.locator('[aria-label=Keys] tbody tr', { hasText: svc_user_id }).waitFor()
    const over =
      "document.querySelector('.scroll').scrollWidth - document.querySelector('.scroll').clientWidth"
    expect(await page.evaluate(over)).toBe(0)
    await page.setViewportSize({ width: 320, height: 700 })
    await page.getByLabel('User', { exact: true }).fill('m'.repeat(128))
    await page.getByText('Create key').click()
    await page.getByText('shown only once').waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(wide).toBe(0)
  })

  it('creates a key with a name, models and limits, edits them and replaces the secret', async () => {
    const { page, url, key, get } = await openPage()
    await page.goto(`${url}/keys#key=${key}`)
    await page.getByLabel('User', { exact: true }).fill('ada')
    await page.getByText('Name, end, models and limits', { exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('nightly')
    await page.getByRole('textbox', { name: 'Models' }).fill('tiny, gpt-*')
    await page.getByLabel('Requests a minute').fill('60')
    await page.getByText('Create key').click()
    const secret = (await page.locator('.new-key .secret pre').innerText()).trim()
    await page.getByText('Done').click()
    const row = page.locator('[aria-label=Keys] tbody tr', { hasText: 'nightly' })
    await row.getByText('tiny, gpt-*').waitFor()
    await row.getByText('Edit', { exact: true }).click()
    const form = page.getByRole('form', { name: 'Key of ada' })
    const adding = page.getByRole('form', { name: 'New budget' })
    await adding.getByLabel('US dollars').fill('12.5')
    await adding.getByText('Add budget').click()
    const budget = page.getByRole('form', { name: 'Budget of a month' })
    await budget.getByText('$0 spent').waitFor()
    await budget.getByLabel('US dollars a month').fill('20')
    await budget.getByText('Save budget').click()
    await expect
      .poll(async () => (await get('/v1/budgets')).body.data)
      .toMatchObject([{ subject_kind: 'key', period: 'month', hard_usd: 20 }])
    await form.getByLabel('Models').fill('')
    await form.getByLabel('Expires').fill('2099-01-01T12:00')
    await page.getByText('Replace the secret').click()
    const next = (await page.locator('.secret pre').innerText()).trim()
    expect(next).not.toBe(secret)
    for (const one of [secret, next]) expect((await get('/me', { key: one })).status).toBe(200)
    await form.getByText('Save').click()
    await row.getByText(/ends .*2099/).waitFor()
    const { data } = (await get('/v1/keys')).body
    expect(data.find(({ name }: { name: string }) => name === 'nightly')).toMatchObject({
      models: null,
      requests_per_minute: 60,
      tokens_per_minute: null,
    })
  })

  it('lists who changed what on the audit page, by user and action, and goes on to older entries', async () => {
    const { page, url, key, complaints, post, patch } = await openPage()
    const rights = { svc_user_id: MARKUP, scopes: ['inference'], projects: ['acme/demo'] }
    const { id } = (await post('/v1/keys', rights)).body
    await patch(`/v1/keys/${id}`, { name: 'nightly' })
    for (let n = 0; n < 50; n++) await patch(`/v1/keys/${id}`, { requests_per_minute: n })
    await page.goto(`${url}/keys#key=${key}`)
    await page.getByText('Who changed what').click()
    const rows = page.locator('[aria-label=Audit] tbody tr')
    await expect.poll(() => rows.count()).toBe(50)
    expect(await rows.first().textContent()).toContain('requests_per_minute 48 → 49')
    await page.getByText('Older entries').click()
    await page.getByText('key created').nth(1).waitFor()
    expect(await rows.first().textContent()).toContain('nightly')
    expect(await page.getByText('Older entries').count()).toBe(0)
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('Action').selectOption({ label: 'key created' })
    await expect.poll(() => rows.count()).toBe(2)
    expect(await rows.first().textContent()).toContain(MARKUP)
    await page.getByLabel('User').fill('nobody')
    await page.getByLabel('User').blur()
    await page.getByText('There are no such entries.').waitFor()
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('says why a key is refused', async () => {
    const { page, url, createKey } = await openPage()
    const key = await createKey({ scopes: ['admin'], projects: ['acme/*'] })
    await page.goto(`${url}/keys#key=${key}`)
    await page.getByLabel('User', { exact: true }).fill('eve')
    await page.getByLabel('Projects').fill('*')
    await page.getByText('Create key').click()
    await page.getByText('The key may not use this project.').waitFor()
  })

  it('signs out users who revoke their own key', async () => {
    const { page, url, createKey } = await openPage()
    const key = await createKey({ scopes: ['admin'] })
    await page.goto(`${url}/keys#key=${key}`)
    const row = page.locator('[aria-label=Keys] tbody tr', { hasText: 'this is yours' })
    await row.getByText('Revoke', { exact: true }).click()
    await page.getByText('Revoke and sign out').click()
    await page.getByText('was revoked').waitFor()
  })

  it('shows the models with their latencies, to admins alone', async () => {
    // What models have answered is counted for as long as an app lives.
    const { page, url, key, post, createKey, complaints } = await openPage({ drainTimeoutMs: 50 })
    await post('/v1/chat/completions', {
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 2,
    })
    await page.goto(`${url}/models#key=${key}`)
    const row = page.locator('[aria-label=Models] tbody tr')
    await expect.poll(() => row.textContent()).toMatch(/^tinytinychat.*tokenize1\d*0\d.* m?s/)
    expect(await findBarriers(page)).toEqual([])
    const reader = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/models#key=${reader}`)
    await page.reload()
    await page.getByText('lacks the scope admin').waitFor()
    expect(complaints).toEqual([])
  })
})
