import { describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import type { Delta, RelayedDelta } from '../../src/inference/backend.ts'
import { createAdmission } from '../../src/inference/chat/admission.ts'
import {
  type CompletionRun,
  collectResponse,
  composeObservers,
  tryModels,
} from '../../src/inference/chat/try-models.ts'
import type { ServedModel } from '../../src/inference/models/registry.ts'
import { finish, piece, prompt } from '../support/scripted-backend.ts'

type Start = () => AsyncIterable<Delta>

const failing = (error: Error) =>
  async function* (): AsyncGenerator<Delta> {
    yield* []
    throw error
  }
const DOWN = failing(new ApiError('upstream_error'))
async function* fine() {
  yield prompt()
  yield piece('b')
}
async function* breaking() {
  yield prompt()
  throw new ApiError('upstream_error')
}
const WHOLE: RelayedDelta = { type: 'relayed', texts: [{ json: '{ }', value: {} }] }
async function* relayed() {
  yield WHOLE
}
const HEAD = { id: 'chatcmpl-1', created: 7, model: 'm', role: 'assistant', choiceCount: 1 }

/** Runs completions one after another, with one slot for all. */
function open() {
  const admission = createAdmission({ placesMax: 1 })
  const leave = new AbortController()
  const { signal } = leave
  const slot = { modelId: 'm', modelMax: 1, keyId: 'k', keyMax: null, priority: 0, signal }
  /** A run over models that each start their answer in one of these ways. */
  function openRun(starts: readonly Start[]) {
    const noted: Delta[] = []
    const ends: unknown[] = []
    const turnedBack = vi.fn()
    const observer = composeObservers([
      {
        onDelta: (delta) => void noted.push(delta),
        onEnd: (error) => void ends.push(error),
        onAllFailed: turnedBack,
      },
    ])
    const startOf = new Map(starts.map((start, at) => [{ id: String(at) } as ServedModel, start]))
    const run: CompletionRun = {
      models: [...startOf.keys()] as unknown as CompletionRun['models'],
      admission,
      toAdmissionRequest: () => slot,
      start: (model) => (startOf.get(model) as Start)(),
      observer,
      signal,
    }
    return { noted, ends, turnedBack, run }
  }
  function run(starts: readonly Start[]) {
    const { run, ...watched } = openRun(starts)
    return { deltas: tryModels(run), ...watched }
  }
  async function ask(...starts: readonly Start[]) {
    const { run, noted, ends } = openRun(starts)
    const [result] = await Promise.allSettled([collectResponse(run, HEAD)])
    return { result, noted, ends }
  }
  async function drain(...starts: readonly Start[]) {
    const answer = run(starts)
    const deltas: Delta[] = []
    let thrown: ApiError | null = null
    try {
      for await (const delta of answer.deltas) deltas.push(delta)
    } catch (error) {
      thrown = error as ApiError
    }
    return { ...answer, deltas, error: thrown }
  }
  return { run, drain, ask, leave }
}

describe('tryModels', () => {
  it.each([
    'upstream_unreachable',
    'upstream_error',
    'upstream_timeout',
    'upstream_rate_limited',
    'upstream_auth',
    'upstream_invalid_response',
  ] as const)('the next candidate is tried after %s', async (code) => {
    const { deltas, error, noted, ends } = await open().drain(failing(new ApiError(code)), fine)
    expect([deltas.length, error]).toEqual([2, null])
    expect(noted).toEqual(deltas)
    expect(ends).toEqual([null])
  })

  it.each([
    'invalid_value',
    'context_length_exceeded',
    'client_closed_request',
    'server_overloaded',
  ] as const)('no other candidate is tried after %s', async (code) => {
    const { deltas, error, ends } = await open().drain(failing(new ApiError(code)), fine)
    expect([deltas.length, error?.code]).toEqual([0, code])
    expect(ends).toEqual([error])
  })

  it('no other candidate is tried once a response has begun', async () => {
    const { deltas, error, ends } = await open().drain(breaking, fine)
    expect([deltas.length, error?.code]).toEqual([1, 'upstream_error'])
    expect(ends).toEqual([error])
  })

  it.each([
    'invalid_value',
    'context_length_exceeded',
    'unsupported_parameter',
    'checkpoint_unusable',
    'server_overloaded',
    'server_draining',
    'internal_error',
    'upstream_timeout',
  ] as const)('a fallback that fails with %s is skipped', async (code) => {
    const { deltas, error, ends } = await open().drain(DOWN, failing(new ApiError(code)), fine)
    expect([deltas.length, error, ends]).toEqual([2, null, [null]])
  })

  it('when all candidates fail, the first error is thrown and clients are told not to retry', async () => {
    const { drain } = open()
    const failed = await drain(DOWN, failing(new ApiError('upstream_timeout')))
    const headers = { 'x-should-retry': 'false' }
    expect(failed.error).toMatchObject({ code: 'upstream_error', headers })
    expect(failed.ends).toEqual([failed.error])
    expect(failed.turnedBack).toHaveBeenCalledOnce()
    const alone = await drain(failing(new ApiError('upstream_timeout')))
    expect([alone.error?.code, alone.error?.headers]).toEqual(['upstream_timeout', {}])
    expect(alone.turnedBack).not.toHaveBeenCalled()
  })

  it('clients may retry when the fallbacks only refused the request', async () => {
    const refusal = failing(new ApiError('invalid_value', { message: 'reads text only' }))
    const { error, turnedBack } = await open().drain(DOWN, refusal, refusal)
    expect([error?.code, error?.headers]).toEqual(['upstream_error', {}])
    expect(turnedBack).toHaveBeenCalledOnce()
  })

  it('no other candidate is tried once the client has left a fallback', async () => {
    const { drain, leave } = open()
    const left = async function* (): AsyncGenerator<Delta> {
      yield* []
      leave.abort(new ApiError('client_closed_request'))
      throw new ApiError('server_draining')
    }
    const { deltas, error, turnedBack } = await drain(DOWN, left, fine)
    expect([deltas.length, error?.code]).toEqual([0, 'client_closed_request'])
    expect(turnedBack).not.toHaveBeenCalled()
  })

  it('a fault of the server is not hidden by a fallback', async () => {
    const fault = new TypeError('a bug')
    expect((await open().drain(DOWN, failing(fault), fine)).error).toBe(fault)
  })

  it('the slot is released after an end, a failure, and when the reader leaves', async () => {
    const { run, drain } = open()
    await drain(fine)
    await drain(breaking)
    const left = run([fine])
    await left.deltas.next()
    const { error } = await drain(fine)
    expect(error?.code).toBe('server_overloaded')
    await left.deltas.return(undefined)
    expect((await drain(fine)).error).toBeNull()
  })

  it.each([
    ['in the middle', fine],
    ['after a relayed piece', relayed],
  ])('tells that it is over when its reader leaves %s', async (_name, start) => {
    const { deltas, ends } = open().run([start])
    await deltas.next()
    await deltas.return(undefined)
    expect(ends).toMatchObject([{ code: 'client_closed_request' }])
  })
})

describe('collectResponse', () => {
  async function* ending() {
    yield* fine()
    yield finish()
  }

  it('a whole response of a model is returned unchanged', async () => {
    const { result, noted, ends } = await open().ask(relayed)
    expect(result).toEqual({ status: 'fulfilled', value: '{ }' })
    expect([noted, ends]).toEqual([[WHOLE], [null]])
  })

  it('a response in chunks is joined', async () => {
    const { result, noted, ends } = await open().ask(ending)
    expect(JSON.parse(result?.status === 'fulfilled' ? result.value : '')).toMatchObject({
      id: HEAD.id,
      choices: [{ message: { content: 'b' }, finish_reason: 'stop' }],
    })
    expect([noted.length, ends]).toEqual([3, [null]])
  })

  it('the next candidate is tried, whether candidates respond whole or in chunks', async () => {
    const first = await open().ask(DOWN, ending)
    expect([first.result?.status, first.ends]).toEqual(['fulfilled', [null]])
    const second = await open().ask(DOWN, relayed)
    expect([second.result?.status, second.ends]).toEqual(['fulfilled', [null]])
  })

  it('a refusing fallback is skipped, and the first error is thrown', async () => {
    const refusal = failing(new ApiError('invalid_value'))
    const { result } = await open().ask(DOWN, refusal, relayed)
    expect(result).toEqual({ status: 'fulfilled', value: '{ }' })
    const none = await open().ask(DOWN, refusal)
    expect(none.result).toMatchObject({ status: 'rejected', reason: { code: 'upstream_error' } })
    expect(none.ends).toMatchObject([{ code: 'upstream_error' }])
  })

  it.each<[string, Start, string]>([
    ['fails at once', DOWN, 'upstream_error'],
    ['breaks', breaking, 'upstream_error'],
    ['never ends', fine, 'internal_error'],
  ])('throws and notifies the observer when an answer %s', async (_name, start, code) => {
    const { result, ends } = await open().ask(start)
    expect(result).toMatchObject({ status: 'rejected', reason: { code } })
    expect(ends).toMatchObject([{ code }])
  })

  it('no other candidate is tried once a response has begun', async () => {
    const { result } = await open().ask(breaking, relayed)
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'upstream_error' } })
  })

  it('the slot is released after an end and a failure', async () => {
    const { ask } = open()
    await ask(DOWN)
    await ask(relayed)
    expect((await ask(relayed)).result?.status).toBe('fulfilled')
  })
})
