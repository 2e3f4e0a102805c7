import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { createAdmission } from '../../src/inference/admission.ts'
import { runAnswer } from '../../src/inference/answer-run.ts'
import type { Delta } from '../../src/inference/backend.ts'
import { piece, prompt } from '../support/scripted-backend.ts'

type Start = () => AsyncIterable<Delta>

const failing = (error: Error) =>
  async function* (): AsyncGenerator<Delta> {
    yield* []
    throw error
  }
async function* fine() {
  yield prompt()
  yield piece('b')
}
async function* breaking() {
  yield prompt()
  throw new ApiError('upstream_error')
}
const WHOLE: Delta = { type: 'relayed', json: '{}', value: {} }
async function* whole() {
  yield WHOLE
}

/** Answers one after another, with one place for all. */
function open() {
  const admission = createAdmission({ placesMax: 1, keyMax: null })
  const { signal } = new AbortController()
  const place = { modelId: 'm', modelMax: 1, keyId: 'k', priority: 0, signal }
  function run(starts: readonly Start[], isStream = true) {
    const noted: Delta[] = []
    const ends: unknown[] = []
    const watcher = { note: (delta: Delta) => noted.push(delta), end: (e: unknown) => ends.push(e) }
    const turns = starts.map((start) => () => ({ place, start }))
    return { deltas: runAnswer(turns, { admission, isStream, watcher }), noted, ends }
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
  return { run, drain }
}

describe('runAnswer', () => {
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

  it('throws what the last one threw, and tells clients not to try again', async () => {
    const { drain } = open()
    const { error } = await drain(
      failing(new ApiError('upstream_error')),
      failing(new ApiError('upstream_timeout')),
    )
    expect(error).toMatchObject({
      code: 'upstream_timeout',
      headers: { 'x-should-retry': 'false' },
    })
    const alone = await drain(failing(new ApiError('upstream_timeout')))
    expect(alone.error?.headers).toEqual({})
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
    ['in the middle of a stream', fine, true, 'client_closed_request'],
    ['after a piece of a stream', whole, true, 'client_closed_request'],
    ['with the whole answer', whole, false, undefined],
  ])('tells why it is over when its reader leaves %s', async (_name, start, isStream, code) => {
    const { deltas, ends } = open().run([start], isStream)
    await deltas.next()
    await deltas.return(undefined)
    expect(ends.map((error) => (error as ApiError | null)?.code)).toEqual([code])
  })
})
