/** What a store of cached completions must do, whichever database has them. */
import { describe, expect, it } from 'vitest'
import type { CompletionCacheStore } from '../../src/store/api/chat/completion-cache.ts'

const entry = (digest: string, created_at_us: number, response_json = '"1234567"') => ({
  digest,
  created_at_us,
  expires_at_us: created_at_us + 100,
  response_json,
})

/** @param create - an empty store that closes itself when the test ends */
export function describeCompletionCacheContract(
  name: string,
  create: () => Promise<CompletionCacheStore>,
): void {
  describe(`${name} keeps the CompletionCacheStore contract`, () => {
    it('finds a completion until it expires, and one that replaced it', async () => {
      const store = await create()
      await store.storeCompletion(entry('a', 1), 1_000)
      expect(await store.findCompletion('a', 100)).toEqual({
        created_at_us: 1,
        response_json: '"1234567"',
      })
      expect(await store.findCompletion('a', 101)).toBeNull()
      expect(await store.findCompletion('b', 1)).toBeNull()
      await store.storeCompletion(entry('a', 50, '"ü"'), 1_000)
      expect(await store.findCompletion('a', 149)).toMatchObject({ response_json: '"ü"' })
    })

    it('removes the oldest completions beyond the bytes, and never counts one twice', async () => {
      const store = await create()
      const list = async () => {
        const digests = ['a', 'b', 'c', 'd', 'e']
        const found = await Promise.all(digests.map((one) => store.findCompletion(one, 50)))
        return digests.filter((_, at) => found[at] !== null)
      }
      for (const [at, digest] of ['a', 'b', 'c'].entries()) {
        await store.storeCompletion(entry(digest, at), 27)
      }
      expect(await list()).toEqual(['a', 'b', 'c'])
      await store.storeCompletion(entry('b', 10), 27)
      expect(await list()).toEqual(['a', 'b', 'c'])
      await store.storeCompletion(entry('d', 11), 27)
      expect(await list()).toEqual(['b', 'c', 'd'])
      await store.storeCompletion(entry('e', 12, `"${'x'.repeat(10)}"`), 27)
      expect(await list()).toEqual(['d', 'e'])
      await store.storeCompletion(entry('c', 13, `"${'x'.repeat(40)}"`), 27)
      expect(await store.findCompletion('c', 50)).toBeNull()
    })

    it('makes room of expired completions before it removes others', async () => {
      const store = await create()
      await store.storeCompletion(entry('a', 0), 18)
      await store.storeCompletion({ ...entry('b', 1), expires_at_us: 5 }, 18)
      await store.storeCompletion(entry('c', 6), 18)
      expect(await store.findCompletion('a', 50)).not.toBeNull()
      expect(await store.findCompletion('c', 50)).not.toBeNull()
    })
  })
}
