import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createSignalJoin } from '../../src/http/client-signal.ts'

/** As much of a reply as the join needs: it tells when the answer is out. */
function openReply() {
  const raw = new EventEmitter()
  return { reply: { raw } as unknown as FastifyReply, end: () => raw.emit('close') }
}

describe('createSignalJoin', () => {
  it('aborts with the first of the signals and with its reason', () => {
    const own = new AbortController()
    const join = createSignalJoin(new AbortController().signal)
    const signal = join(openReply().reply, [new AbortController().signal, own.signal])
    expect(signal.aborted).toBe(false)
    own.abort('left')
    expect([signal.aborted, signal.reason]).toEqual([true, 'left'])
  })

  it('aborts every running request with the lasting signal, and none that has ended', () => {
    const lasting = new AbortController()
    const join = createSignalJoin(lasting.signal)
    const ended = openReply()
    const signals = [
      join(openReply().reply, []),
      join(ended.reply, []),
      join(openReply().reply, []),
    ]
    ended.end()
    lasting.abort('shutdown')
    expect(signals.map(({ reason }) => reason)).toEqual(['shutdown', undefined, 'shutdown'])
  })

  it('is aborted from the start where one of them already is', () => {
    const lasting = AbortSignal.abort('shutdown')
    expect(createSignalJoin(lasting)(openReply().reply, []).reason).toBe('shutdown')
    const join = createSignalJoin(new AbortController().signal)
    expect(join(openReply().reply, [AbortSignal.abort('left')]).reason).toBe('left')
  })
})
