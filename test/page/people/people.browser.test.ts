import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { buildLocalApp, PASSWORD } from '../../access/sign-in/local-app.ts'
import { findBarriers, hasBrowser, openTab } from '../browser.ts'

async function open() {
  const app = await buildLocalApp()
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://localhost:${(app.app.server.address() as AddressInfo).port}`
  const page = await openTab()
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  return { ...app, url, page, complaints }
}

/** Each view at both widths and in both schemes: nothing wider than the screen, no barriers. */
async function inspect(page: Awaited<ReturnType<typeof openTab>>, name: string): Promise<void> {
  for (const width of [1440, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      expect([name, width, colorScheme, await findBarriers(page)]).toEqual([
        name,
        width,
        colorScheme,
        [],
      ])
      const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([name, width, over]).toEqual([name, width, 0])
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 })
}

describe.skipIf(!hasBrowser)('people on the page', () => {
  it('are invited with roles by project, edited, reset, signed out and removed', async () => {
    const { page, url, key, get, openBrowser, complaints } = await open()
    await page.goto(`${url}/people#key=${key}`)
    const form = page.getByRole('form', { name: 'Invite a person' })
    await form.getByLabel('E-mail').fill('ada@acme.example')
    await form.getByLabel('Projects').fill('acme/demo')
    await form.getByText('Add a role').click()
    const second = form.getByRole('group', { name: 'Role 2' })
    await form.getByText('Add a role').click()
    await second.getByRole('button', { name: 'Remove role 2' }).press('Enter')
    // What came after it has moved up.
    await second.locator('select:focus').waitFor()
    await form.getByRole('button', { name: 'Remove role 2' }).press('Enter')
    await form.getByRole('group', { name: 'Role 1' }).locator('select:focus').waitFor()
    await form.getByText('Add a role').click()
    await second.getByRole('combobox').selectOption('developer')
    await second.getByLabel('Projects').fill('acme/other, acme/third')
    await form.getByRole('button', { name: 'Invite', exact: true }).dblclick()
    const link = String(await page.locator('.secret pre').textContent())
    const read = async () => (await get('/v1/people')).body.data
    expect(await read()).toMatchObject([
      {
        email: 'ada@acme.example',
        grants: [
          { role: 'viewer', projects: ['acme/demo'] },
          { role: 'developer', projects: ['acme/other', 'acme/third'] },
        ],
      },
    ])
    const ada = openBrowser()
    expect((await ada.set(new URL(link).hash.slice('#password='.length))).statusCode).toBe(200)
    await page.reload()
    const row = page.locator('[aria-label=People] tbody tr')
    await expect.poll(() => row.textContent()).toContain('signed in')
    await row.getByText('Edit').click()
    await page.getByLabel('US dollars', { exact: true }).fill('5')
    await page.getByRole('button', { name: 'Add budget' }).click()
    await page.getByRole('button', { name: 'Save budget' }).waitFor()
    await inspect(page, 'people')
    await page.getByText('End all sessions').click()
    await page.getByText('All sessions are over.').waitFor()
    await expect.poll(ada.me).toBe(401)
    expect((await ada.signIn('ada@acme.example')).statusCode).toBe(200)
    await page.getByText('Reset the password').click()
    await page.locator('.secret pre').last().waitFor()
    expect((await ada.signIn('ada@acme.example', PASSWORD)).statusCode).toBe(403)
    await page.getByRole('button', { name: 'Remove role 2' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Ada')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect
      .poll(async () => (await read())[0])
      .toMatchObject({
        name: 'Ada',
        grants: [{ role: 'viewer' }],
      })
    await row.getByText('Edit').click()
    await page.getByText('Remove the person').click()
    await page.getByText('Admit again').waitFor()
    expect((await read())[0].disabled_at).toEqual(expect.any(String))
    await expect.poll(() => row.count()).toBe(0)
    await page.getByLabel('show removed people').check()
    await expect.poll(() => row.textContent()).toContain('removed')
    expect(complaints).toEqual([])
  })

  it('and projects and keys have budgets, with what is left, and use by model and by person', async () => {
    const { page, url, key, post, complaints } = await open()
    const project_id = 'acme/demo'
    const price = { prompt_token_cost: 0.01, completion_token_cost: 0.01 }
    await post('/cost/create', { project_id, costs: { 'model-a': price, 'model-b': price } })
    const call = (id: string, model: string) => [
      {
        mode: 'start',
        req: {
          start: {
            project_id,
            id,
            op_name: 'op',
            started_at: new Date(Date.now() - 3_600_000).toISOString(),
            attributes: {},
            inputs: {},
          },
        },
      },
      {
        mode: 'end',
        req: {
          end: {
            project_id,
            id,
            ended_at: new Date().toISOString(),
            summary: { usage: { [model]: { input_tokens: 100, output_tokens: 50 } } },
          },
        },
      },
    ]
    await post('/call/upsert_batch', { batch: [...call('a', 'model-a'), ...call('b', 'model-b')] })
    let reads = 0
    page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().endsWith('/v1/budgets')) reads += 1
    })
    await page.goto(`${url}/budgets#key=${key}`)
    await page.getByLabel('Id', { exact: true }).fill('')
    await page.getByLabel('Id', { exact: true }).pressSequentially(project_id)
    const add = page.getByRole('form', { name: 'New budget' })
    await add.getByLabel('US dollars').fill('25')
    await add.getByLabel('warns at').fill('20')
    await add.getByRole('button', { name: 'Add budget' }).click()
    const row = page.locator('[aria-label=Budgets] tbody tr')
    await expect.poll(() => row.count()).toBe(1)
    // Once at first, and once after the change, whatever is typed.
    expect(reads).toBe(2)
    const text = String(await row.textContent())
    for (const part of ['acme/demo', 'month', '$25.00', 'warns at $20.00', '$0.00']) {
      expect(text).toContain(part)
    }
    const use = page.getByRole('region', { name: 'Use' })
    await use.getByText('Cost by model: $3').waitFor()
    for (const label of ['model-a', 'model-b', 'User One']) {
      await use.getByText(label, { exact: true }).first().waitFor()
    }
    await inspect(page, 'budgets')
    expect(complaints).toEqual([])
  })
})
