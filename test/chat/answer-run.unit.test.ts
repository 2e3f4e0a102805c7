import { describe, expect, it, vi } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import type { Delta, RelayedDelta } from '../../src/inference/backend.ts'
import { createAdmission } from '../../src/inference/chat/admission.ts'
import { answerWhole, type Candidate, streamAnswer } from '../../src/inference/chat/answer-run.ts'
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

/** Answers one after another, with one place for all. */
function open() {
  const admission = createAdmission({ placesMax: 1, keyMax: null })
  const leave = new AbortController()
  const { signal } = leave
  const place = { modelId: 'm', modelMax: 1, keyId: 'k', priority: 0, signal }
  function watch() {
    const noted: Delta[] = []
    const ends: unknown[] = []
    const watcher = { note: (delta: Delta) => noted.push(delta), end: (e: unknown) => ends.push(e) }
    const turnedBack = vi.fn()
    const options = { admission, watcher, onAllFailed: turnedBack }
    return { noted, ends, turnedBack, options }
  }
  function run(starts: readonly Start[]) {
    const { options, ...watched } = watch()
    const turns = starts.map((start) => () => ({ place, start }))
    return { deltas: streamAnswer(turns, options), ...watched }
  }
  async function ask(...candidates: readonly Partial<Omit<Candidate, 'place'>>[]) {
    const { noted, ends, options } = watch()
    const turns = candidates.map((candidate) => () => ({ place, start: fine, ...candidate }))
    const [result] = await Promise.allSettled([answerWhole(turns, options, HEAD)])
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

describe('streamAnswer', () => {
  it.each([
    'upstream_unreachable',
    'upstream_error',
    'upstream_timeout',
    'upstream_rate_limited',
    'upstream_auth',
    'upstream_invalid_response',
  ] as const)('asks the next candidate after %s', async (code) => {
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
  ] as const)('asks nobody else after %s', async (code) => {
    const { deltas, error, ends } = await open().drain(failing(new ApiError(code)), fine)
    expect([deltas.length, error?.code]).toEqual([0, code])
    expect(ends).toEqual([error])
  })

  it('asks nobody else once an answer has begun', async () => {
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
  ] as const)('passes over a fallback that fails with %s', async (code) => {
    const { deltas, error, ends } = await open().drain(DOWN, failing(new ApiError(code)), fine)
    expect([deltas.length, error, ends]).toEqual([2, null, [null]])
  })

  it('throws the error of the first one when all fail, and tells clients not to retry', async () => {
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

  it('lets clients retry when the fallbacks only refused the request', async () => {
    const refusal = failing(new ApiError('invalid_value', { message: 'reads text only' }))
    const { error, turnedBack } = await open().drain(DOWN, refusal, refusal)
    expect([error?.code, error?.headers]).toEqual(['upstream_error', {}])
    expect(turnedBack).toHaveBeenCalledOnce()
  })

  it('asks nobody else once the client has left a fallback', async () => {
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

  it('hides no fault of the server behind a fallback', async () => {
    const fault = new TypeError('a bug')
    expect((await open().drain(DOWN, failing(fault), fine)).error).toBe(fault)
  })

  it('gives its place back after an end, a failure, and when its reader leaves', async () => {
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

describe('answerWhole', () => {
  const startWhole = async () => WHOLE
  const refuse = async () => {
    throw new ApiError('upstream_error')
  }
  async function* ending() {
    yield* fine()
    yield finish()
  }

  it('answers what a candidate has at once, as it came', async () => {
    const { result, noted, ends } = await open().ask({ startWhole })
    expect(result).toEqual({ status: 'fulfilled', value: '{ }' })
    expect([noted, ends]).toEqual([[WHOLE], [null]])
  })

  it('puts an answer together that comes in pieces', async () => {
    const { result, noted, ends } = await open().ask({ start: ending })
    expect(JSON.parse(result?.status === 'fulfilled' ? result.value : '')).toMatchObject({
      id: HEAD.id,
      choices: [{ message: { content: 'b' }, finish_reason: 'stop' }],
    })
    expect([noted.length, ends]).toEqual([3, [null]])
  })

  it('asks the next candidate, whichever way each of them answers', async () => {
    const first = await open().ask({ startWhole: refuse }, { start: ending })
    expect([first.result?.status, first.ends]).toEqual(['fulfilled', [null]])
    const second = await open().ask(
      { start: failing(new ApiError('upstream_error')) },
      { startWhole },
    )
    expect([second.result?.status, second.ends]).toEqual(['fulfilled', [null]])
  })

  it('passes over a fallback that refuses, and throws what the first one threw', async () => {
    const down = { start: DOWN }
    const refusal = { start: failing(new ApiError('invalid_value')) }
    const { result } = await open().ask(down, refusal, { startWhole })
    expect(result).toEqual({ status: 'fulfilled', value: '{ }' })
    const none = await open().ask(down, refusal)
    expect(none.result).toMatchObject({ status: 'rejected', reason: { code: 'upstream_error' } })
    expect(none.ends).toMatchObject([{ code: 'upstream_error' }])
  })

  it.each<[string, Partial<Candidate>, string]>([
    ['fails at once', { startWhole: refuse }, 'upstream_error'],
    ['breaks', { start: breaking }, 'upstream_error'],
    ['never ends', { start: fine }, 'internal_error'],
  ])('throws and tells the watcher when an answer %s', async (_name, candidate, code) => {
    const { result, ends } = await open().ask(candidate)
    expect(result).toMatchObject({ status: 'rejected', reason: { code } })
    expect(ends).toMatchObject([{ code }])
  })

  it('asks nobody else once an answer has begun', async () => {
    const { result } = await open().ask({ start: breaking }, { startWhole })
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'upstream_error' } })
  })

  it('gives its place back after an end and a failure', async () => {
    const { ask } = open()
    await ask({ startWhole: refuse })
    await ask({ startWhole })
    expect((await ask({ startWhole })).result?.status).toBe('fulfilled')
  })
})
