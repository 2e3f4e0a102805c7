import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { findPort } from '../../support/find-port.ts'
import { openIdentityProvider } from '../../support/identity-provider.ts'
import { hasBrowser, openTab } from '../browser.ts'

describe.skipIf(!hasBrowser)('signing in on the page', () => {
  it('leads over a provider of another site to what the role allows, and out of both', async () => {
    const port = await findPort()
    const origin = `http://localhost:${port}`
    const provider = await openIdentityProvider(origin)
    provider.account = { sub: 'ada', name: 'Ada Lovelace' }
    const { signIn } = readConfig({
      WEFT_PUBLIC_URL: origin,
      WEFT_OIDC_ISSUER: provider.issuer,
      WEFT_OIDC_CLIENT_ID: 'weft',
      WEFT_OIDC_CLIENT_SECRET: 'secret of the client',
      WEFT_OIDC_GRANTS: JSON.stringify([{ role: 'playground', projects: ['acme/demo'] }]),
    })
    const { app } = await buildTestApp({ signIn })
    await app.listen({ host: '127.0.0.1', port })
    const page = await openTab()
    await page.goto(`${origin}/acme/demo/weave/playground`)
    await page.getByText('Sign in with your account').click()
    await page.locator('.rail .user').getByText('Ada Lovelace').waitFor()
    expect(new URL(page.url()).pathname).toBe('/acme/demo/weave/playground')
    expect(await page.locator('nav[aria-label=Views] a').allTextContents()).toEqual(['Playground'])
    await page.getByText('Sign out').click()
    await page.waitForURL(`${provider.issuer}/session/end**`)
    await page.goto(`${origin}/?sign_in=person_unknown`)
    await page.getByText('You are not invited').waitFor()
    await page.getByText('Sign in with your account').waitFor()
  })
})
