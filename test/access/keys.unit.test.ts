import { describe, expect, it, onTestFinished } from 'vitest'
import {
  canUseProject,
  type Principal,
  requireAccess,
  type Scope,
} from '../../src/domain/access/permissions.ts'
import { createServerKeys } from '../../src/http/server-keys.ts'
import { KeyCreateRequest } from '../../src/schemas/access/key.ts'
import { KEYS_PER_PART, listKeyParts, type StoredKey } from '../../src/store/api/access/keys.ts'
import { createKeyStore } from '../../src/store/base/access/key-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'

function principal(scopes: Scope[], projects: string[]): Principal {
  return { keyId: 'k', svc_user_id: 'u', svc_username: 'U', scopes, projects }
}

function openKeys() {
  const store = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 10 })
  onTestFinished(() => store.close())
  return store.keys
}

describe('project patterns', () => {
  it.each([
    ['*', 'acme/demo', true],
    ['acme/*', 'acme/demo', true],
    ['acme/demo', 'acme/demo', true],
    ['acme/*', 'acme2/demo', false],
    ['acme/demo', 'acme/demo2', false],
    ['demo/*', 'acme/demo', false],
  ])('%s over %s is %s', (pattern, project, expected) => {
    expect(canUseProject(principal([], [pattern]), project)).toBe(expected)
  })

  it.each(['acme', '/demo', 'acme/', '*/demo', 'a/b/c', '', 'a/b\tc'])(
    'refuses the pattern %j',
    (text) => {
      const key = { svc_user_id: 'u', scopes: ['training'], projects: [text] }
      expect(KeyCreateRequest.safeParse(key).success).toBe(false)
    },
  )
})

describe('requireAccess', () => {
  it('takes admin for every scope, but only in its projects', () => {
    const admin = principal(['admin'], ['acme/*'])
    expect(requireAccess(admin, 'training', 'acme/demo')).toBe(admin)
    expect(() => requireAccess(admin, 'training', 'other/demo')).toThrow(
      expect.objectContaining({ code: 'project_forbidden' }),
    )
  })

  it('refuses a missing scope before it looks at the project', () => {
    expect(() => requireAccess(principal(['worker'], []), 'training', 'a/b')).toThrow(
      expect.objectContaining({ code: 'scope_missing' }),
    )
  })

  it('refuses when there is no caller', () => {
    expect(() => requireAccess(null, 'training', 'a/b')).toThrow(
      expect.objectContaining({ code: 'missing_api_key' }),
    )
  })
})

describe('key store', () => {
  it('finds the caller behind a key and nobody behind another', async () => {
    const keys = openKeys()
    const rights = { scopes: ['worker'] as const, projects: ['a/b'] }
    const { id, secret } = await keys.createKey({ svc_user_id: 'u', svc_username: 'U', ...rights })
    expect(secret).toMatch(/^wk_[\w-]{43}$/)
    expect(await keys.findPrincipal(secret)).toEqual({
      keyId: id,
      svc_user_id: 'u',
      svc_username: 'U',
      ...rights,
    })
    expect(await keys.findPrincipal(`${secret}x`)).toBeNull()
    expect(await keys.findPrincipal('')).toBeNull()
  })

  it('does not keep the secret', async () => {
    const keys = openKeys()
    const { secret } = await keys.createKey({
      svc_user_id: 'u',
      svc_username: 'U',
      scopes: [],
      projects: [],
    })
    expect(JSON.stringify(await keys.listKeys())).not.toContain(secret)
  })

  it('refuses a key whose revocation is durable although it has failed', async () => {
    const row = { id: 'k', scopes_json: '[]', projects_json: '["*"]', models_json: null }
    let stored: object | null = row
    const keys = createKeyStore({
      read: async <T>() => stored as T,
      async write(name) {
        if (name === 'touch_key') return undefined as never
        stored = null
        throw new Error('the connection ended after the commit')
      },
    })
    expect(await keys.findPrincipal('wk_secret')).not.toBeNull()
    await expect(keys.revokeKey('k')).rejects.toThrow('after the commit')
    expect(await keys.findPrincipal('wk_secret')).toBeNull()
  })

  it('refuses a revoked key, and a second revocation', async () => {
    const keys = openKeys()
    const { id, secret } = await keys.createKey({
      svc_user_id: 'u',
      svc_username: 'U',
      scopes: [],
      projects: [],
    })
    expect(await keys.findPrincipal(secret)).not.toBeNull()
    expect(await keys.revokeKey(id)).toBe(true)
    expect(await keys.findPrincipal(secret)).toBeNull()
    expect(await keys.revokeKey(id)).toBe(false)
  })
})

describe('the parts of a list of keys', () => {
  it('leave other work its turn between them', async () => {
    const store = openKeys()
    await store.createKey({ svc_user_id: 'u', svc_username: 'U', scopes: [], projects: [] })
    const [key] = await store.listKeys()
    const full = Array.from({ length: KEYS_PER_PART }, () => key as StoredKey)
    const turns: string[] = []
    const listKeys = async () => (turns.length < 4 ? full : [])
    const note = () => void (turns.push('other') < 4 && setImmediate(note))
    setImmediate(note)
    for await (const part of listKeyParts({ ...store, listKeys })) turns.push(`${part.length}`)
    expect(turns).toEqual([`${KEYS_PER_PART}`, 'other', `${KEYS_PER_PART}`, 'other', '0'])
  })
})

describe('keys of the server', () => {
  it('take the bootstrap key as admin of everything', () => {
    const keys = createServerKeys('a bootstrap key of 30 letters!')
    expect(keys.findPrincipal('a bootstrap key of 30 letters!')).toMatchObject({
      svc_user_id: 'bootstrap',
      scopes: ['admin'],
      projects: ['*'],
    })
    expect(keys.findPrincipal('a bootstrap key of 30 letters')).toBeNull()
    expect(createServerKeys(null).findPrincipal('')).toBeNull()
  })

  it('know a key of the process until another one is made', () => {
    const keys = createServerKeys(null)
    const rights = { svc_user_id: 'trainer', svc_username: 'T', projects: ['*'] }
    const first = keys.createProcessKey({ ...rights, scopes: ['worker'] })
    expect(keys.findPrincipal(first)).toMatchObject({ ...rights, scopes: ['worker'] })
    const second = keys.createProcessKey({ ...rights, scopes: ['worker'] })
    expect(keys.findPrincipal(first)).toBeNull()
    expect(keys.findPrincipal(second)).toMatchObject(rights)
  })
})
