import { expect, it } from 'vitest'
import { createTurns } from '../../../src/threads/turns.ts'

const share = (keyId: string) => ({ keyId, project_id: 'a/b' })

it('runs as many turns as it has slots, the rest by keys in turn', async () => {
  const turns = createTurns({ slots: 1, queueMax: 3 })
  const order: string[] = []
  const run = async (keyId: string) => {
    const leave = await turns.enter(share(keyId))
    order.push(keyId)
    await new Promise(setImmediate)
    leave()
  }
  const all = Promise.all(['a', 'a', 'a', 'b'].map(run))
  expect(turns.figures()).toEqual({ running: 1, waiting: 3, refused: 0 })
  await all
  expect(order).toEqual(['a', 'a', 'b', 'a'])
  expect(turns.figures()).toEqual({ running: 0, waiting: 0, refused: 0 })
})

it('refuses what comes to a full queue, what waits too long, what nobody waits for, and what comes after its end', async () => {
  const turns = createTurns({ slots: 1, queueMax: 1, waitMsMax: 20 })
  await turns.enter(share('a'))
  const late = turns.enter(share('a'))
  await expect(turns.enter(share('b'))).rejects.toMatchObject({ code: 'server_overloaded' })
  await expect(late).rejects.toMatchObject({ code: 'read_timeout' })
  const abort = new AbortController()
  const left = turns.enter({ ...share('a'), signal: abort.signal })
  abort.abort()
  await expect(left).rejects.toMatchObject({ code: 'client_closed_request' })
  const last = turns.enter(share('a'))
  turns.close()
  await expect(last).rejects.toMatchObject({ code: 'server_draining' })
  await expect(turns.enter(share('a'))).rejects.toMatchObject({ code: 'server_draining' })
  expect(turns.figures()).toEqual({ running: 1, waiting: 0, refused: 1 })
})
