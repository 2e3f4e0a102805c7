import { describe, expect, it } from 'vitest'
import { toModelCache } from '../../src/inference/models/model-cache.ts'
import { parseModelsFile } from '../../src/inference/models/models-file.ts'

const TINY = { id: 'tiny', backend: 'tiny' }
const parse = (...models: readonly unknown[]) => parseModelsFile(JSON.stringify({ models }), 'm')

describe('the cache and the guard of a model', () => {
  it.each([
    ['a cache without an end', [{ ...TINY, cache: { ttl_s: 0 } }], 'models[0].cache.ttl_s'],
    ['an unknown use of a cache', [{ ...TINY, cache: { mode: 'x' } }], 'models[0].cache.mode'],
    ['a guard without an address', [{ ...TINY, guard: {} }], 'models[0].guard.url'],
    [
      'a key in a guard',
      [{ ...TINY, guard: { url: 'http://x', api_key: 'sk-1' } }],
      'models[0].guard.api_key',
    ],
    [
      'what no guard checks',
      [{ ...TINY, capabilities: ['chat', 'embeddings'], guard: { url: 'http://x' } }],
      'models[0].capabilities[1]',
    ],
  ])('%s is refused, naming the place', (_, models, place) => {
    expect(() => parse(...models)).toThrow(`m: ${place}`)
  })

  it('have defaults', () => {
    const [entry] = parse({ ...TINY, cache: {}, guard: { url: 'http://x/check' } })
    expect(entry).toMatchObject({
      cache: { ttl_s: 3_600, mode: 'automatic' },
      guard: { timeout_ms: 2_000, on_failure: 'closed', phases: ['request', 'response'] },
    })
  })

  it('a change of the entry begins the cache anew, but not one of the cache or an alias', () => {
    const revisionOf = (more: object) => {
      const [entry] = parse({ ...TINY, cache: {}, ...more })
      return entry && toModelCache(entry).cache?.revision
    }
    expect(revisionOf({ aliases: ['a'], cache: { ttl_s: 5 } })).toBe(revisionOf({}))
    expect(revisionOf({ guard: { url: 'http://x' } })).not.toBe(revisionOf({}))
    expect(revisionOf({ tools: false })).not.toBe(revisionOf({}))
  })
})
