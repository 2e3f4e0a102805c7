import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { buildLocalApp, PASSWORD } from '../../access/sign-in/local-app.ts'
import { findBarriers, hasBrowser, openTab } from '../browser.ts'

describe.skipIf(!hasBrowser)('a password on the page', () => {
  it('is set by a link, changed, and signs in again', async () => {
    const { app, invite } = await buildLocalApp()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const url = `http://localhost:${(app.server.address() as AddressInfo).port}`
    const { secret } = await invite('ada@acme.example', [
      { role: 'playground', projects: ['acme/demo'] },
    ])
    const page = await openTab()
    await page.goto(`${url}/#password=${secret}`)
    await page.getByText('Set your password').waitFor()
    expect(page.url()).toBe(`${url}/`)
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('New password again').fill('something else')
    await page.getByText('Set the password and sign in').click()
    await page.getByText('The two new passwords differ.').waitFor()
    await page.getByLabel('New password again').fill(PASSWORD)
    await page.getByText('Set the password and sign in').click()
    await page.getByText('ada@acme.example').first().waitFor()
    await page.goto(`${url}/account`)
    await page.getByLabel('Password so far').fill('a wrong password')
    await page.getByLabel('New password', { exact: true }).fill('another long password')
    await page.getByLabel('New password again').fill('another long password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The password is wrong.').waitFor()
    await page.getByLabel('Password so far').fill(PASSWORD)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The password is changed').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByText('Sign out').click()
    await page.getByLabel('E-mail').fill('ada@acme.example')
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await page.getByText('Sign in with a password', { exact: true }).click()
    await page.getByText('The e-mail or the password is wrong.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Password' }).fill('another long password')
    await page.getByText('Sign in with a password', { exact: true }).click()
    await page.getByText('ada@acme.example').first().waitFor()
  })

  it('is not set by a link that was used', async () => {
    const { app, invite, openBrowser } = await buildLocalApp()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const url = `http://localhost:${(app.server.address() as AddressInfo).port}`
    const { secret } = await invite('ada@acme.example')
    await openBrowser().set(secret)
    const page = await openTab()
    await page.goto(`${url}/#password=${secret}`)
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('New password again').fill(PASSWORD)
    await page.getByText('Set the password and sign in').click()
    await page.getByText('Ask an admin for another one.').waitFor()
  })
})
