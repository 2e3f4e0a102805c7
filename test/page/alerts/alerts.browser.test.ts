import { describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser, MARKUP, openPage } from '../browser.ts'

describe.skipIf(!hasBrowser)('alerts on the page', () => {
  it('are made with a secret that is shown once, listed, disabled and deleted, and have a history', async () => {
    const { page, url, key, complaints, get, deps } = await openPage()
    await page.goto(`${url}/acme/demo/weave/alerts#key=${key}`)
    const form = page.getByRole('form', { name: 'New alert' })
    await form.getByLabel('Name').fill(MARKUP)
    await form.getByLabel('Measures').selectOption('p95 of latency in ms')
    await form.getByLabel('Threshold').fill('2500')
    await form.getByRole('textbox', { name: 'Webhook' }).fill('https://hooks.example.com/weft')
    await form.getByText('Add alert').dblclick()
    await page.locator('.secret code', { hasText: 'whsec_' }).waitFor()
    const row = page.locator('[aria-label=Alerts] tbody tr')
    await expect.poll(() => row.count()).toBe(1)
    await expect
      .poll(() => row.textContent())
      .toContain('p95 of latency in ms above 2500 over 1 hour')
    const [alert] = (await get('/v1/alerts?project_id=acme/demo')).body.data
    expect(alert).toMatchObject({ name: MARKUP, metric: { percentile: 95 }, window_s: 3600 })
    expect(await findBarriers(page)).toEqual([])
    await row.getByText('disable', { exact: true }).click()
    await expect.poll(() => row.textContent()).toContain('disabled')
    await row.getByText('enable', { exact: true }).click()
    await expect.poll(() => row.textContent()).toContain('unknown')

    const claim = {
      claim_id: 'c',
      now_us: Date.now() * 1000,
      until_us: Date.now() * 1000 + 1e9,
      limit: 1,
    }
    await deps.alerts.claimChecks(claim)
    const found = {
      alert_id: alert.id,
      claim_id: 'c',
      now_us: claim.now_us,
      next_check_at_us: claim.until_us,
    }
    await deps.alerts.settleCheck({ ...found, value: 3000, error: null, event_id: 'e' })
    await row.getByText(MARKUP).click()
    const history = page.locator('[aria-label=History] tbody tr')
    await expect.poll(() => history.textContent()).toContain('fired30002500pending 0 attempts')
    expect(await findBarriers(page)).toEqual([])
    await page.getByText('All alerts').click()
    page.on('dialog', (dialog) => void dialog.accept())
    await row.getByText('delete').click()
    await page.getByText('No alerts yet.').waitFor()
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })
})
