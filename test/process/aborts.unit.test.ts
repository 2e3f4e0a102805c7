import { EventEmitter } from 'node:events'
import type { FastifyReply } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createAborts } from '../../src/http/stream/client-signal.ts'
import { collectGarbage } from '../support/heap.ts'

/** The used part of a reply: when its connection closes, and whether the answer was sent. */
function openReply({ isClosed = false } = {}) {
  const raw = Object.assign(new EventEmitter(), { closed: isClosed, writableFinished: false })
  const reply = { raw } as unknown as FastifyReply
  const close = (isAnswered: boolean) => {
    raw.writableFinished = isAnswered
    raw.emit('close')
  }
  return { reply, close }
}

const codeOf = ({ signal }: AbortController) => signal.reason?.code

describe('createAborts', () => {
  it('aborts a request whose client leaves, unless it was answered', () => {
    const open = createAborts(new AbortController().signal)
    const [left, answered] = [openReply(), openReply()]
    const aborts = [open(left.reply), open(answered.reply)]
    left.close(false)
    answered.close(true)
    expect(aborts.map(({ signal }) => signal.aborted)).toEqual([true, false])
    expect(aborts.map(codeOf)).toEqual(['client_closed_request', undefined])
  })

  it('aborts every running request with the lasting signal, and none that has ended', () => {
    const lasting = new AbortController()
    const open = createAborts(lasting.signal)
    const ended = openReply()
    const aborts = [open(openReply().reply), open(ended.reply), open(openReply().reply)]
    ended.close(true)
    lasting.abort('shutdown')
    expect(aborts.map(({ signal }) => signal.reason)).toEqual(['shutdown', undefined, 'shutdown'])
  })

  it('is aborted from the start where there is nobody to answer or the server ends', () => {
    const open = createAborts(new AbortController().signal)
    expect(codeOf(open(openReply({ isClosed: true }).reply))).toBe('client_closed_request')
    const ending = createAborts(AbortSignal.abort('shutdown'))
    expect(ending(openReply().reply).signal.reason).toBe('shutdown')
  })
  it('keeps nothing of requests that have ended, even when somebody listens to them still', async () => {
    const open = createAborts(new AbortController().signal)
    const ended = Array.from({ length: 100 }, () => {
      const { reply, close } = openReply()
      const { signal } = open(reply)
      signal.addEventListener('abort', () => undefined)
      close(true)
      return new WeakRef(signal)
    })
    await collectGarbage()
    expect(ended.filter((signal) => signal.deref() !== undefined)).toEqual([])
  })
})
