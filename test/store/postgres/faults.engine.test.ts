import { describe, expect, it } from 'vitest'
import type { NewKey } from '../../../src/store/api/access/keys.ts'
import { connectPostgres } from '../../../src/store/postgres/db/client.ts'
import { bindNames } from '../../../src/store/postgres/db/named-parameters.ts'
import { openTestStores } from './open-postgres.ts'
import { openProxy } from './postgres-proxy.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const RIGHTS: NewKey = {
  svc_user_id: 'u',
  svc_username: 'U',
  scopes: ['traces:read'],
  projects: ['*'],
}

async function connect(fields = {}) {
  const url = await makeDatabase()
  const db = connectPostgres({ url, readTimeoutMs: 20_000, ...fields })
  return { db, [Symbol.asyncDispose]: db.close }
}

describe('names of parameters', () => {
  it('named parameters become numbered ones, each once, and none is without a value', () => {
    const bound = bindNames('a = @a AND b @> @b AND c = @a', { a: 1, b: null })
    expect(bound).toEqual({ text: 'a = $1 AND b @> $2 AND c = $1', values: [1, null] })
    expect(() => bindNames('a = @a', {})).toThrow('no value for @a')
  })
})

describe.skipIf(!hasPostgres)('PostgreSQL that fails', () => {
  it('a failing PostgreSQL is reported by 503 and the health route, and used again when it is back', async () => {
    const proxy = await openProxy(await makeDatabase())
    const stores = await openTestStores(proxy.url)
    const { secret } = await stores.keys.createKey(RIGHTS)
    expect((await stores.checkStore()).failing).toEqual([])
    proxy.cut()
    const refused = { code: 'store_unavailable', retryAfterS: 5 }
    await expect(stores.keys.createKey(RIGHTS)).rejects.toMatchObject(refused)
    await expect(stores.keys.findPrincipal(secret)).rejects.toMatchObject(refused)
    const health = async () => (await stores.checkStore()).failing
    const away = ['keys cannot be used: PostgreSQL does not answer']
    await expect.poll(health, { timeout: 20_000 }).toEqual(away)
    proxy.mend()
    expect(await stores.keys.findPrincipal(secret)).toMatchObject(RIGHTS)
    await expect.poll(health, { timeout: 20_000 }).toEqual([])
  })

  it('a statement without a response is ended, and its connection dropped', async () => {
    const proxy = await openProxy(await makeDatabase())
    const db = connectPostgres({ url: proxy.url, readTimeoutMs: 2000, writeTimeoutMs: 2000 })
    try {
      expect(await db.first('SELECT 1 AS one')).toEqual({ one: 1 })
      proxy.loseAnswers()
      await expect(db.first('SELECT 2 AS two')).rejects.toMatchObject({ code: 'store_unavailable' })
      proxy.mend()
      expect(await db.first('SELECT 3 AS three')).toEqual({ three: 3 })
      expect(db.figures()).toEqual({ store: 'postgres', faults: 1 })
    } finally {
      await db.close()
    }
  })

  it('the number of waiters, the time of a statement and the time of a read are limited', async () => {
    await using open = await connect({ connectionsMax: 1, queueMax: 1, writeTimeoutMs: 200 })
    const { db } = open
    const slow = [db.all('SELECT pg_sleep(20)'), db.all('SELECT pg_sleep(20)')]
    await expect(db.all('SELECT 1')).rejects.toMatchObject({ code: 'server_overloaded' })
    const ended = await Promise.allSettled(slow)
    for (const { reason } of ended as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ code: 'store_unavailable' })
    }
    await using quick = await connect({ readTimeoutMs: 100 })
    const read = quick.db.snapshot((tx) => tx.all('SELECT pg_sleep(20)'))
    await expect(read).rejects.toMatchObject({ code: 'read_timeout' })
  })

  it('a failing transaction is rolled back, and a conflicting one repeated', async () => {
    await using open = await connect()
    const { db } = open
    await db.run('CREATE TABLE numbers (n integer PRIMARY KEY)')
    const failed = db.transaction(async (tx) => {
      await tx.run('INSERT INTO numbers VALUES (1)')
      throw new Error('mine')
    })
    await expect(failed).rejects.toThrow('mine')
    expect(await db.all('SELECT n FROM numbers')).toEqual([])
    let tries = 0
    await db.transaction(async (tx) => {
      tries += 1
      await tx.run('INSERT INTO numbers VALUES (@n)', { n: tries })
      if (tries < 3) await tx.run("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$")
    })
    expect(await db.all('SELECT n FROM numbers')).toEqual([{ n: 3 }])
  })

  it('a text that PostgreSQL cannot store is refused with its own message, and a lone surrogate replaced', async () => {
    const stores = await openTestStores()
    const refused = stores.keys.createKey({ ...RIGHTS, svc_username: 'a\0b' })
    await expect(refused).rejects.toMatchObject({ code: 'validation_failed' })
    const { id } = await stores.keys.createKey({ ...RIGHTS, svc_username: 'a\ud800b' })
    expect(await stores.keys.listKeys()).toMatchObject([{ id, svc_username: 'a\ufffdb' }])
  })
})
