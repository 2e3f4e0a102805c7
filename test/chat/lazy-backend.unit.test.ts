/** A backend that its first use opens. */
import { expect, it } from 'vitest'
import type { CompletionCall, InferenceBackend, ServiceCall } from '../../src/inference/backend.ts'
import { createLazyBackend } from '../../src/inference/models/lazy-backend.ts'

const CALL = {} as CompletionCall & ServiceCall
const OPTIONS = { signal: new AbortController().signal }

function createBackend() {
  const seen: string[] = []
  async function* answer() {
    yield { type: 'relayed', texts: [] } as never
  }
  const backend = createLazyBackend({
    kind: 'tiny',
    fields: {} as InferenceBackend['fields'],
    takesAdapters: true,
    open() {
      seen.push('open')
      return {
        complete: answer,
        serve: answer,
        close: async () => void seen.push('close'),
      } as unknown as InferenceBackend
    },
  })
  return { backend, seen }
}

it.each(['complete', 'serve'] as const)(
  'the first call of %s opens a lazy backend, once',
  async (name) => {
    const { backend, seen } = createBackend()
    expect(seen).toEqual([])
    for (let time = 0; time < 2; time += 1) {
      const deltas = await Array.fromAsync(backend[name]!(CALL, OPTIONS as never))
      expect(deltas).toEqual([{ type: 'relayed', texts: [] }])
    }
    await backend.close()
    expect(seen).toEqual(['open', 'close'])
  },
)

it.each(['complete', 'serve'] as const)(
  'a closed lazy backend is not opened by %s',
  async (name) => {
    const { backend, seen } = createBackend()
    await backend.close()
    const asked = Array.fromAsync(backend[name]!(CALL, OPTIONS as never))
    await expect(asked).rejects.toMatchObject({ code: 'server_draining' })
    expect(seen).toEqual([])
  },
)
