/** Asks all routes of the document in the session of a person of each role, and with a key of the same scopes. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { toPersonPrincipal } from '../../../src/domain/access/roles.ts'
import { seal } from '../../../src/http/sign-in/sealed-cookie.ts'
import { ROLES, type RoleGrant } from '../../../src/schemas/access/person.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { fillRequest, outcomeOf, PROJECT, readDocument, send } from '../documented-routes.ts'
import { buildLocalApp } from './local-app.ts'

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }
const SECRET = 's'.repeat(32)
const SAFE = ['GET', 'HEAD']

/** An app at which a person with these roles has a session. */
async function openSession(grants: readonly RoleGrant[]) {
  const { signIn } = readConfig({
    WEFT_PUBLIC_URL: 'http://localhost',
    WEFT_OIDC_ISSUER: 'https://provider.example',
    WEFT_OIDC_CLIENT_ID: 'weft',
    WEFT_SESSION_SECRET: SECRET,
  })
  const app = await buildTestApp({ signIn })
  const nobody = {
    issuer: null,
    subject: null,
    signed_in_at_us: null,
    password_set_at_us: null,
    link_expires_at_us: null,
    disabled_at_us: null,
  }
  const person = {
    ...nobody,
    id: 'ada',
    email: null,
    name: 'Ada',
    grants,
    claim_grants: [],
    created_at_us: 1,
    sessions_from_us: 0,
  }
  await app.deps.people.createPerson(person)
  const session = {
    person_id: 'ada',
    started_at_us: Date.now() * 1000,
    seen_at_ms: Date.now(),
    id_token: null,
  }
  const key = createHash('sha256').update(SECRET).digest()
  const cookie = `weft_session=${await seal(session, key, 60)}`
  return { app, cookie, scopes: toPersonPrincipal(person).scopes }
}

/** The same with a password. */
async function openLocalSession(grants: readonly RoleGrant[]) {
  const app = await buildLocalApp()
  const { id, secret } = await app.invite('ada@acme.example', grants)
  const browser = app.openBrowser()
  await browser.set(secret)
  const person = await app.deps.people.findPerson(id)
  if (person === null) throw new Error('nobody was invited')
  return { app, cookie: browser.cookie(), scopes: toPersonPrincipal(person).scopes }
}

const WAYS = { provider: openSession, password: openLocalSession }

/** The outcome of every route but those of signing in. */
async function outcomesOf(
  app: Awaited<ReturnType<typeof buildTestApp>>,
  as: { readonly key: string | null; readonly headers?: Record<string, string> },
) {
  const { routes, fill } = await readDocument(app)
  const outcomes: Record<string, string> = {}
  for (const route of routes) {
    // A key is sent to the addresses of vLLM by another scheme, and tests of those do so.
    if (route.path.startsWith('/auth/') || /^\/(de)?tokenize$/.test(route.path)) continue
    outcomes[route.name] = outcomeOf(await send(app, route, { ...fillRequest(route, fill), ...as }))
  }
  return outcomes
}

const isRefusal = (outcome: string | undefined) =>
  outcome === 'scope_missing' || outcome === 'project_forbidden'

describe('every route', () => {
  it.each(ROLES.flatMap((role) => [[role, 'provider'] as const, [role, 'password'] as const]))(
    'admits a session of the role %s that began with a %s to what a key of its scopes may',
    async (role, way) => {
      const { app, cookie, scopes } = await WAYS[way]([{ role, projects: [PROJECT] }])
      const inSession = await outcomesOf(app, { key: null, headers: { cookie, ...SAME_ORIGIN } })
      const other = await buildTestApp()
      const key = await other.createKey({ scopes, projects: [PROJECT] })
      expect(Object.keys(inSession).length).toBeGreaterThan(100)
      expect(Object.values(inSession)).not.toContain('missing_api_key')
      expect(inSession).toEqual(await outcomesOf(other, { key }))
    },
  )

  it('refuses in a project what only the role in another project allows', async () => {
    const everywhere: RoleGrant = { role: 'viewer', projects: ['*'] }
    const elsewhere: RoleGrant = { role: 'admin', projects: ['other/project'] }
    const viewer = await openSession([everywhere])
    const both = await openSession([everywhere, elsewhere])
    const headersOf = (cookie: string) => ({ key: null, headers: { cookie, ...SAME_ORIGIN } })
    const asViewer = await outcomesOf(viewer.app, headersOf(viewer.cookie))
    const asBoth = await outcomesOf(both.app, headersOf(both.cookie))
    const { routes, fill } = await readDocument(both.app)
    const named = routes.filter((route) => {
      const text = JSON.stringify([route.path, fillRequest(route, fill)])
      return text.includes(PROJECT) || text.includes('{project}')
    })
    const refused = named.filter(({ name }) => isRefusal(asViewer[name]))
    expect(refused.length).toBeGreaterThan(40)
    const admitted = refused.filter(({ name }) => !isRefusal(asBoth[name]))
    expect(admitted.map(({ name }) => name)).toEqual([])
  })

  it('reads the project of a header by the roles there', async () => {
    const { app, cookie } = await openSession([
      { role: 'viewer', projects: ['*'] },
      { role: 'playground', projects: ['other/project'] },
    ])
    const ask = (project: string) =>
      app.post(
        '/v1/chat/completions',
        { model: 'none', messages: [{ role: 'user', content: 'hi' }] },
        { key: null, headers: { cookie, ...SAME_ORIGIN, 'compat-project': project } },
      )
    expect((await ask(PROJECT)).body.error.code).toBe('project_forbidden')
    expect((await ask('other/project')).body.error.code).toBe('model_not_found')
  })

  it('refuses to change anything for a session without the proof of its origin', async () => {
    const { app, cookie } = await openSession([{ role: 'admin', projects: ['*'] }])
    const outcomes = await outcomesOf(app, {
      key: null,
      headers: { cookie, 'sec-fetch-site': 'cross-site' },
    })
    const changes = Object.entries(outcomes).filter(
      ([name]) => !SAFE.includes(name.split(' ')[0] ?? ''),
    )
    expect(changes.length).toBeGreaterThan(80)
    const others = changes.filter(([, outcome]) => !/^cross_origin_|^403$/.test(outcome))
    expect(others).toEqual([])
  })
})
