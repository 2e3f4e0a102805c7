import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { DONE, event, startFakeUpstream, stream } from '../../support/fake-upstream.ts'
import { findPort } from '../../support/find-port.ts'
import { openIdentityProvider } from '../../support/identity-provider.ts'
import { spawnServer, TEST_KEY } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { hasBrowser, openTab, PROJECT } from '../browser.ts'

const RULES = [{ claim: 'groups', value: 'ops', role: 'admin', projects: ['*'] }]
const GRACE = { sub: 'grace', name: 'Grace Hopper', groups: ['ops'] }
const ADA = {
  sub: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@acme.example',
  email_verified: true,
}

/** An answer whose output costs 0.6 dollars a million tokens by the list of prices. */
function answerOf(completion_tokens: number) {
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini' }
  const delta = { role: 'assistant', content: 'Seven.' }
  const usage = { prompt_tokens: 10, completion_tokens, total_tokens: 10 + completion_tokens }
  return stream([
    event({ ...head, choices: [{ index: 0, delta, finish_reason: 'stop' }] }),
    event({ ...head, choices: [], usage }),
    DONE,
  ])
}

/** The server as a container starts it: settings in the environment alone, an empty directory. */
async function start() {
  const upstream = await startFakeUpstream(answerOf(1_000_000))
  const port = await findPort()
  const origin = `http://localhost:${port}`
  const provider = await openIdentityProvider(origin)
  const dataDir = makeTempDir()
  const models = join(dataDir, 'models.json')
  const model = { id: 'gpt-4o-mini', backend: 'openai', base_url: upstream.baseUrl }
  writeFileSync(models, JSON.stringify({ models: [model] }))
  await spawnServer({
    WEFT_PORT: String(port),
    WEFT_DATA_DIR: join(dataDir, 'data'),
    WEFT_MODELS_FILE: models,
    WEFT_PUBLIC_URL: origin,
    WEFT_OIDC_ISSUER: provider.issuer,
    WEFT_OIDC_CLIENT_ID: 'weft',
    WEFT_OIDC_CLIENT_SECRET: 'secret of the client',
    WEFT_OIDC_GRANTS: JSON.stringify(RULES),
  })
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${TEST_KEY}` }
    return ((await (await fetch(origin + path, { headers })).json()) as { data: object[] }).data
  }
  const completions = () =>
    upstream.requests.filter(({ url }) => url.endsWith('/chat/completions')).length
  return { origin, provider, upstream, read, completions }
}

async function signIn(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.getByText('Sign in with your account').click()
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(question)
  await page.getByText('Send', { exact: true }).click()
}

describe.skipIf(!hasBrowser)('a lead who starts a server for a team', () => {
  it('signs in, invites a colleague with 5 dollars, whose first call is answered and whose last is refused', async () => {
    const { origin, provider, upstream, read, completions } = await start()
    provider.account = GRACE
    const lead = await openTab()
    await signIn(lead, `${origin}/people`)
    const invitation = lead.getByRole('form', { name: 'Invite a person' })
    await invitation.getByLabel('E-mail').fill(ADA.email)
    await invitation.getByRole('combobox').selectOption('developer')
    await invitation.getByLabel('Projects').fill(PROJECT)
    await invitation.getByRole('button', { name: 'Invite', exact: true }).click()
    await lead.getByText(`${ADA.email} is invited`).waitFor()
    await lead.getByRole('button', { name: `Edit ${ADA.email}` }).click()
    const budget = lead.getByRole('form', { name: 'New budget' })
    await budget.getByLabel('US dollars').fill('5')
    await budget.getByRole('button', { name: 'Add budget' }).click()
    await lead.getByRole('button', { name: 'Save budget' }).waitFor()

    provider.account = ADA
    const colleague = await openTab()
    await signIn(colleague, `${origin}/${PROJECT}/weave/playground?model=gpt-4o-mini`)
    await ask(colleague, 'What is 3 plus 4?')
    await colleague.getByText('Seven.').first().waitFor()
    await colleague.getByText('the recorded call').first().waitFor()
    const spent = async () => (await read('/v1/budgets'))[0]
    await expect
      .poll(spent)
      .toMatchObject({ subject_kind: 'person', hard_usd: 5, spent_usd: 0.6000015 })
    upstream.behave(answerOf(9_000_000))
    await ask(colleague, 'And 30 plus 40?')
    await expect.poll(completions).toBe(2)
    await expect.poll(spent).toMatchObject({ spent_usd: 6.000003 })
    await colleague.getByText('Send', { exact: true }).waitFor()
    await ask(colleague, 'And 300 plus 400?')
    await colleague.getByText('is used up').first().waitFor()
    expect(completions()).toBe(2)

    await lead.goto(`${origin}/budgets`)
    const row = lead.locator('[aria-label=Budgets] tbody tr')
    await expect.poll(() => row.textContent()).toContain('$6.000003')
    const people = await read('/v1/people')
    const [, ada] = people as { id: string }[]
    expect(people).toMatchObject([{ name: GRACE.name }, { email: ADA.email, subject: 'ada' }])
    const audit = (await read('/v1/audit?order=asc')) as { action: string; svc_user_id: string }[]
    const [grace] = people as { id: string }[]
    const steps = audit.map(({ action, svc_user_id }) => [action, svc_user_id])
    expect(steps.filter(([action]) => !action?.startsWith('key.'))).toEqual([
      ['person.sign_in', grace?.id],
      ['person.create', grace?.id],
      ['budget.create', grace?.id],
      ['person.sign_in', ada?.id],
    ])
  })
})
