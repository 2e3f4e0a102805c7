import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'

const URL = { WEFT_PUBLIC_URL: 'https://weft.example' }
const PROVIDER = {
  WEFT_OIDC_ISSUER: 'https://provider.example',
  WEFT_OIDC_CLIENT_ID: 'weft',
  WEFT_OIDC_CLIENT_SECRET: 'secret of the client',
}
const LOCAL = { WEFT_LOCAL_ACCOUNTS: 'on' }
const SHARED = {
  WEFT_STORE: 'clickhouse',
  WEFT_CLICKHOUSE_URL: 'http://a:8123/weft',
  WEFT_META_URL: 'postgres://a/weft',
}
const rules = (...list: readonly object[]) => ({ WEFT_OIDC_GRANTS: JSON.stringify(list) })

describe('the settings of signing in', () => {
  it('are off by default, a provider, passwords or both', () => {
    expect(readConfig({}).signIn).toBeNull()
    expect(readConfig(URL).signIn).toBeNull()
    expect(readConfig({ ...URL, ...PROVIDER }).signIn).toMatchObject({
      publicOrigin: 'https://weft.example',
      hasPasswords: false,
      provider: { clientId: 'weft', rules: [] },
    })
    const local = { hasPasswords: true, provider: null }
    expect(readConfig({ ...URL, ...LOCAL }).signIn).toMatchObject(local)
    const both = { hasPasswords: true, provider: { clientId: 'weft' } }
    expect(readConfig({ ...URL, ...LOCAL, ...PROVIDER }).signIn).toMatchObject(both)
  })

  it.each([
    ['WEFT_PUBLIC_URL must be set for WEFT_OIDC_ISSUER', PROVIDER],
    ['WEFT_PUBLIC_URL must be set for WEFT_LOCAL_ACCOUNTS=on', LOCAL],
    ['WEFT_OIDC_CLIENT_ID must be set', { ...URL, WEFT_OIDC_ISSUER: 'https://a.example' }],
    ['WEFT_OIDC_CLIENT_ID needs WEFT_OIDC_ISSUER', { ...LOCAL, ...URL, WEFT_OIDC_CLIENT_ID: 'x' }],
    ['WEFT_OIDC_CLIENT_SECRET needs WEFT_OIDC_ISSUER', { WEFT_OIDC_CLIENT_SECRET: 'x' }],
    ['WEFT_OIDC_GRANTS needs WEFT_OIDC_ISSUER', rules()],
    [
      'WEFT_SESSION_SECRET needs WEFT_OIDC_ISSUER or WEFT_LOCAL_ACCOUNTS=on',
      { WEFT_SESSION_SECRET: 's'.repeat(32) },
    ],
    [
      'WEFT_SESSION_SECRET must be set for people who sign in with WEFT_META_URL',
      { ...URL, ...LOCAL, ...SHARED },
    ],
    ['WEFT_LOCAL_ACCOUNTS must be off or on', { WEFT_LOCAL_ACCOUNTS: 'yes' }],
    ['WEFT_SESSION_SECRET must have at least 32 characters', { WEFT_SESSION_SECRET: 'short' }],
    ['WEFT_SESSION_IDLE_MS must be from 60000', { WEFT_SESSION_IDLE_MS: '10000' }],
    ['WEFT_SESSION_MS_MAX must be a whole number', { WEFT_SESSION_MS_MAX: '7d' }],
    ['WEFT_OIDC_ISSUER must be an https address', { WEFT_OIDC_ISSUER: 'http://a.example' }],
    ['WEFT_PUBLIC_URL must be an https address', { WEFT_PUBLIC_URL: 'http://weft.example' }],
    ['WEFT_PUBLIC_URL must be an address without a path', { WEFT_PUBLIC_URL: 'https://a/weft' }],
    ['WEFT_PUBLIC_URL must be an address without a path', { WEFT_PUBLIC_URL: 'https://u:p@a' }],
    ['WEFT_OIDC_GRANTS must be JSON', { WEFT_OIDC_GRANTS: 'ml=admin' }],
    ['WEFT_OIDC_GRANTS has a wrong rule: 0.role', rules({ role: 'boss', projects: ['*'] })],
    ['WEFT_OIDC_GRANTS has a wrong rule: 0', rules({ claim: 'g', role: 'admin', projects: ['*'] })],
    ['WEFT_OIDC_GRANTS has a wrong rule: 0.projects', rules({ role: 'viewer', projects: ['x'] })],
  ])('are refused at the start in one line: %s', (fault, environment) => {
    const refuse = () => readConfig(environment)
    expect(refuse).toThrow(fault)
    expect(refuse).not.toThrow(/\n|secret of the client/)
  })

  it('take one secret for all processes', () => {
    const secret = { WEFT_SESSION_SECRET: 's'.repeat(32) }
    const { signIn } = readConfig({ ...URL, ...LOCAL, ...SHARED, ...secret })
    expect(signIn?.sessionSecret).toBe(secret.WEFT_SESSION_SECRET)
  })
})
