import { describe, expect, it } from 'vitest'
import { type AdmissionRequest, createAdmission } from '../../../src/inference/chat/admission.ts'

interface Options {
  placesMax?: number
}

function open({ placesMax = 100 }: Options = {}) {
  const admission = createAdmission({ placesMax })
  const started: string[] = []
  /** Starts a completion that runs until it is ended. */
  function begin(name: string, more: Partial<AdmissionRequest> = {}) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const request = {
      modelId: 'm',
      modelMax: null,
      keyId: 'k',
      keyMax: null,
      priority: 0,
      signal: new AbortController().signal,
      ...more,
    }
    const done = (async () => {
      const leave = await admission.enter(request)
      started.push(name)
      await promise
      leave()
    })()
    done.catch(() => {})
    return {
      done,
      async end() {
        resolve()
        await done
        await settle()
      },
    }
  }
  return { begin, started }
}

async function settle() {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
}

describe('createAdmission', () => {
  it('a completion is refused when all slots are taken, running or waiting', async () => {
    const { begin } = open({ placesMax: 2 })
    const running = begin('a', { modelMax: 1 })
    begin('b', { modelMax: 1 })
    await expect(begin('c').done).rejects.toMatchObject({
      code: 'server_overloaded',
      retryAfterS: 1,
    })
    await running.end()
    await settle()
    const last = begin('d', { modelMax: 5 })
    await settle()
    await last.end()
  })

  it.each<[string, Options, Partial<AdmissionRequest>, Partial<AdmissionRequest>]>([
    ['its model', {}, { modelMax: 1 }, { modelId: 'other', modelMax: 1 }],
    ['its key', {}, { keyMax: 1 }, { keyId: 'other' }],
  ])('a completion waits for a slot of %s while others run', async (_n, options, same, other) => {
    const { begin, started } = open(options)
    const first = begin('first', same)
    const second = begin('second', same)
    begin('other', other)
    await settle()
    expect(started).toEqual(['first', 'other'])
    await first.end()
    expect(started).toEqual(['first', 'other', 'second'])
    await second.end()
  })

  it('waiting completions start in order of priority, equals in order of arrival', async () => {
    const { begin, started } = open()
    const waits = [0, 1, -1, 0, -1].map((priority, at) =>
      begin(`${at}:${priority}`, { modelMax: 1, priority }),
    )
    await settle()
    for (const at of [0, 2, 4, 3, 1]) await waits[at]?.end()
    expect(started).toEqual(['0:0', '2:-1', '4:-1', '3:0', '1:1'])
  })

  it('a completion that leaves the queue is not started', async () => {
    const { begin, started } = open()
    const leave = new AbortController()
    const first = begin('a', { modelMax: 1 })
    const second = begin('b', { modelMax: 1, signal: leave.signal })
    const third = begin('c', { modelMax: 1 })
    const reason = new Error('gone')
    leave.abort(reason)
    await expect(second.done).rejects.toBe(reason)
    await first.end()
    expect(started).toEqual(['a', 'c'])
    await third.end()
  })
})
