/** What every KeyStore and PriceStore must do, whatever they store in. */
import { describe, expect, it } from 'vitest'
import { PRICES_PER_PROJECT_MAX } from '../../src/domain/prices/price-limits.ts'
import { resolvePrice } from '../../src/domain/prices/project-prices.ts'
import {
  KEYS_PER_PART,
  type KeyStore,
  listKeyParts,
  type NewKey,
  type StoredKey,
} from '../../src/store/api/access/keys.ts'
import type { PriceStore } from '../../src/store/api/prices/prices.ts'

const RIGHTS: NewKey = {
  svc_user_id: 'u',
  svc_username: 'U',
  scopes: ['traces:read'],
  projects: ['acme/*'],
}

/** @param create - an empty store that closes itself when the test ends */
export function describeKeyStoreContract(name: string, create: () => Promise<KeyStore>): void {
  describe(`${name} keeps the KeyStore contract`, () => {
    it('the caller of a key is found until the key is revoked', async () => {
      const keys = await create()
      const { id, secret } = await keys.createKey(RIGHTS)
      expect(await keys.findPrincipal(secret)).toEqual({ keyId: id, ...RIGHTS })
      expect(await keys.findPrincipal(`${secret}x`)).toBeNull()
      expect(await keys.revokeKey(id)).toBe(true)
      expect(await keys.revokeKey(id)).toBe(false)
      expect(await keys.revokeKey('unknown')).toBe(false)
      expect(await keys.findPrincipal(secret)).toBeNull()
    })

    it('keys are listed oldest first, revoked ones included, without their secrets', async () => {
      const keys = await create()
      const first = await keys.createKey(RIGHTS)
      const second = await keys.createKey(RIGHTS)
      await keys.revokeKey(first.id)
      const listed = await keys.listKeys()
      expect(listed.map(({ id }) => id)).toEqual([first.id, second.id])
      expect(listed.map(({ revoked_at_us }) => revoked_at_us === null)).toEqual([false, true])
      expect(JSON.stringify(listed)).not.toContain(second.secret)
    })

    it('many keys are listed in pages, each key once', async () => {
      const keys = await create()
      const making = Array.from({ length: KEYS_PER_PART + 3 }, () => keys.createKey(RIGHTS))
      const made = (await Promise.all(making)).map(({ id }) => id)
      const parts: StoredKey[][] = []
      for await (const part of listKeyParts(keys)) parts.push(part)
      expect(parts.map(({ length }) => length)).toEqual([KEYS_PER_PART, 3])
      const places = parts.flat().map(({ created_at_us, id }) => [created_at_us, id] as const)
      expect(places).toEqual(places.toSorted(comparePlaces))
      expect(places.map(([, id]) => id).toSorted()).toEqual(made.toSorted())
    })

    it('a rotated key is found by both secrets until the overlap ends, and has its last two at most', async () => {
      const keys = await create()
      const { id, secret: first } = await keys.createKey(RIGHTS)
      const rotate = (endsInMs: number) =>
        keys.rotateKey({ id, previous_expires_at_us: (Date.now() + endsInMs) * 1000 })
      const second = (await rotate(60_000)) ?? ''
      const found = async (secret: string) => (await keys.findPrincipal(secret))?.keyId ?? null
      expect([await found(first), await found(second)]).toEqual([id, id])
      const third = (await rotate(-1)) ?? ''
      expect([await found(first), await found(second), await found(third)]).toEqual([
        null,
        null,
        id,
      ])
      await keys.revokeKey(id)
      expect([await rotate(60_000), await found(third)]).toEqual([null, null])
    })

    it('an edited key keeps its secret, and is refused after its end', async () => {
      const keys = await create()
      const { id, secret } = await keys.createKey(RIGHTS)
      const settings = {
        name: 'nightly',
        svc_username: 'Ada',
        scopes: ['inference'] as const,
        projects: ['*'],
        models: ['gpt-*'],
        expires_at_us: null,
        requests_per_minute: 7,
        tokens_per_minute: 0,
        parallel_requests: null,
      }
      expect(await keys.updateKey({ id, settings })).toBe(true)
      const limits = { requests_per_minute: 7, tokens_per_minute: 0, parallel_requests: null }
      expect(await keys.findPrincipal(secret)).toMatchObject({ models: ['gpt-*'], limits })
      expect(await keys.findKey(id)).toMatchObject({ id, svc_user_id: 'u', ...settings })
      await keys.updateKey({ id, settings: { ...settings, expires_at_us: 1 } })
      expect(await keys.findPrincipal(secret)).toBeNull()
      expect(await keys.updateKey({ id: 'unknown', settings })).toBe(false)
    })

    it('a secret that has expired is distinguished from unknown, valid and revoked ones', async () => {
      const keys = await create()
      const { id, secret } = await keys.createKey(RIGHTS)
      const next = (await keys.rotateKey({ id, previous_expires_at_us: 1 })) ?? ''
      const expired = () => Promise.all([secret, next, 'unknown'].map(keys.hasExpired))
      expect(await expired()).toEqual([true, false, false])
      const ended = await keys.createKey({ ...RIGHTS, expires_at_us: 1 })
      expect(await keys.hasExpired(ended.secret)).toBe(true)
      for (const one of [id, ended.id]) await keys.revokeKey(one)
      expect([...(await expired()), await keys.hasExpired(ended.secret)]).toEqual(
        Array(4).fill(false),
      )
    })

    it('the day of the last use is noted', async () => {
      const keys = await create()
      const { id, secret } = await keys.createKey(RIGHTS)
      expect(await keys.findKey(id)).toMatchObject({ last_used_day: null })
      await keys.findPrincipal(secret)
      const day = Math.floor(Date.now() / 86_400_000)
      await expect.poll(async () => (await keys.findKey(id))?.last_used_day).toBe(day)
    })

    it('a key is found by its id, live or revoked', async () => {
      const keys = await create()
      const { id } = await keys.createKey(RIGHTS)
      expect(await keys.findKey(id)).toMatchObject({ id, ...RIGHTS, revoked_at_us: null })
      await keys.revokeKey(id)
      expect(await keys.findKey(id)).toEqual((await keys.listKeys())[0])
      expect(await keys.findKey('unknown')).toBeNull()
    })
  })
}

type KeyPosition = readonly [created_at_us: number, id: string]

function comparePlaces([left_us, left]: KeyPosition, [right_us, right]: KeyPosition): number {
  return left_us - right_us || (left < right ? -1 : 1)
}

function priceOf(id: string, project_id = 'acme/demo') {
  const cost = { prompt_token_cost: 1, completion_token_cost: 2 }
  return resolvePrice('m', cost, { project_id, id, svc_user_id: 'u', created_at_us: 1 })
}

/** @param create - an empty store that closes itself when the test ends */
export function describePriceStoreContract(name: string, create: () => Promise<PriceStore>): void {
  describe(`${name} keeps the PriceStore contract`, () => {
    it('prices of a project are listed in the order of their storage', async () => {
      const prices = await create()
      await prices.createPrices([priceOf('b'), priceOf('a')])
      await prices.createPrices([priceOf('c'), priceOf('d', 'acme/other')])
      expect(await prices.listPrices('acme/demo')).toEqual(['b', 'a', 'c'].map((id) => priceOf(id)))
      expect(await prices.listPrices('acme/none')).toEqual([])
    })

    it('any text is stored, with a replacement character for a lone surrogate', async () => {
      const prices = await create()
      const names = { llm_id: 'ü/"\\😀', provider_id: 'a\ud800b' }
      await prices.createPrices([{ ...priceOf('a'), ...names }])
      const marked = { ...priceOf('a'), ...names, provider_id: 'a\ufffdb' }
      expect(await prices.listPrices('acme/demo')).toEqual([marked])
    })

    it('named prices are removed, and only those of the project', async () => {
      const prices = await create()
      await prices.createPrices([priceOf('a'), priceOf('b'), priceOf('c', 'acme/other')])
      await prices.purgePrices('acme/demo', ['a', 'c', 'unknown'])
      expect((await prices.listPrices('acme/demo')).map(({ id }) => id)).toEqual(['b'])
      expect((await prices.listPrices('acme/other')).map(({ id }) => id)).toEqual(['c'])
    })

    it('prices beyond the limit are refused as a whole', async () => {
      const prices = await create()
      const many = Array.from({ length: PRICES_PER_PROJECT_MAX }, (_, at) => priceOf(`p${at}`))
      const refused = prices.createPrices([...many, priceOf('last')])
      await expect(refused).rejects.toMatchObject({ code: 'validation_failed' })
      expect(await prices.listPrices('acme/demo')).toEqual([])
    })
  })
}
