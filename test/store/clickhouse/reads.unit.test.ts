import { expect, it } from 'vitest'
import type { ClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { createReads } from '../../../src/store/clickhouse/db/reads.ts'
import { readCaller } from '../../support/read-caller.ts'

/** Reads of which each ends when it is told to. */
function open(waitMsMax: number) {
  const ends: (() => void)[] = []
  const read = () => new Promise<never[]>((resolve) => ends.push(() => resolve([])))
  const reads = createReads({ read } as unknown as ClickHouse, {
    slots: 1,
    queueMax: 2,
    waitMsMax,
  })
  const ask = (signal = new AbortController().signal) =>
    reads.read('SELECT 1', {}, { ...readCaller(), signal })
  return { ends, ask, figures: reads.figures }
}

it('a read that waits too long for its turn ends, and frees no other slot', async () => {
  const { ends, ask } = open(20)
  const running = ask()
  await expect(ask()).rejects.toMatchObject({ code: 'read_timeout' })
  expect(ends).toHaveLength(1)
  ends[0]?.()
  expect(await running).toEqual([])
  const next = ask()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  expect(await next).toEqual([])
})

it('a waiting read ends with its client, and one beyond the queue is refused', async () => {
  const { ends, ask, figures } = open(60_000)
  const running = ask()
  const client = new AbortController()
  const left = ask(client.signal)
  const waits = ask()
  await expect(ask()).rejects.toMatchObject({ code: 'server_overloaded' })
  expect(figures()).toEqual({ kind: 'clickhouse', running: 1, waiting: 2, refused: 1 })
  client.abort()
  await expect(left).rejects.toMatchObject({ code: 'client_closed_request' })
  ends[0]?.()
  await running
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  expect(await waits).toEqual([])
})
