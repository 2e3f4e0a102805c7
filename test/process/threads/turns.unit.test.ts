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
  await expect(turns.enter(share('a'))).rejects.toMatchObject({ code: 'server_overloaded' })
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

it('lets a shorter line into a full queue by refusing the last of the longest', async () => {
  const turns = createTurns({ slots: 1, queueMax: 2 })
  await turns.enter(share('a'))
  const [first, last] = [turns.enter(share('a')), turns.enter(share('a'))]
  const other = turns.enter(share('b'))
  await expect(last).rejects.toMatchObject({ code: 'server_overloaded', retryAfterS: 1 })
  await expect(turns.enter(share('b'))).rejects.toMatchObject({ code: 'server_overloaded' })
  expect(turns.figures()).toEqual({ running: 1, waiting: 2, refused: 2 })
  turns.close()
  await Promise.allSettled([first, other])
})

it('limits the bytes that wait, and begins only turns that get a slot', async () => {
  const slots = new Map([['a', 1]])
  const takeSlot = ({ keyId }: { readonly keyId: string }) => slots.delete(keyId)
  const turns = createTurns({ queueMax: 9, queueBytesMax: 10, takeSlot })
  const leave = await turns.enter(share('a'))
  const waiting = [
    turns.enter({ ...share('a'), bytes: 6 }),
    turns.enter({ ...share('b'), bytes: 4 }),
  ]
  await expect(turns.enter({ ...share('a'), bytes: 1 })).rejects.toMatchObject({
    code: 'server_overloaded',
  })
  slots.set('b', 1)
  leave()
  await waiting[1]
  expect(turns.figures()).toEqual({ running: 1, waiting: 1, refused: 1 })
  turns.close()
  await expect(waiting[0]).rejects.toMatchObject({ code: 'server_draining' })
})

it('refuses what is larger than its whole queue, and nothing that waits for it', async () => {
  const turns = createTurns({ slots: 1, queueMax: 9, queueBytesMax: 10 })
  await turns.enter(share('a'))
  const waiting = turns.enter({ ...share('a'), bytes: 6 })
  await expect(turns.enter({ ...share('b'), bytes: 11 })).rejects.toMatchObject({
    code: 'server_overloaded',
  })
  expect(turns.figures()).toEqual({ running: 1, waiting: 1, refused: 1 })
  turns.close()
  await expect(waiting).rejects.toMatchObject({ code: 'server_draining' })
})
