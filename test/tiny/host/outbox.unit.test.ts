/** When the model's thread sends its messages, by a manual clock. */
import { describe, expect, it } from 'vitest'
import type { FromEngine } from '../../../src/inference/tiny/host/engine-messages.ts'
import { createOutbox } from '../../../src/inference/tiny/host/outbox.ts'

function setUp() {
  const sent: number[][] = []
  const clock = { ms: 100 }
  const outbox = createOutbox(
    (messages) => sent.push(messages.map((one) => ('id' in one ? one.id : 0))),
    () => clock.ms,
  )
  return { sent, clock, outbox, say: (id: number) => outbox.post({ type: 'done', id }) }
}

describe('the outbox', () => {
  it('sends together, in order, what was said within a millisecond', () => {
    const { sent, clock, outbox, say } = setUp()
    say(1)
    outbox.flush()
    clock.ms += 0.9
    say(2)
    outbox.flush()
    expect(sent).toEqual([])
    clock.ms += 0.1
    outbox.flush()
    expect(sent).toEqual([[1, 2]])
    say(3)
    outbox.flush()
    expect(sent).toEqual([[1, 2]])
  })

  it('sends at once what there is too much of, and all when there is nothing more to do', () => {
    const { sent, outbox, say } = setUp()
    for (let id = 0; id < 256; id++) say(id)
    outbox.flush()
    expect(sent.map(({ length }) => length)).toEqual([256])
    say(1)
    outbox.flushAll()
    expect(sent.at(-1)).toEqual([1])
  })

  it('sends nothing when nothing was said', () => {
    const { sent, clock, outbox } = setUp()
    clock.ms += 50
    outbox.flush()
    outbox.flushAll()
    expect(sent).toEqual([])
  })

  it('keeps a message as it is', () => {
    const messages: FromEngine[] = []
    const outbox = createOutbox(
      (list) => messages.push(...list),
      () => 0,
    )
    outbox.post({ type: 'done', id: 7 })
    outbox.flushAll()
    expect(messages).toEqual([{ type: 'done', id: 7 }])
  })
})
