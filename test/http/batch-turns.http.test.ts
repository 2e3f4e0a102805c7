import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { prepareBatch } from '../../src/domain/calls/call-batch.ts'
import { unpackCalls } from '../../src/domain/calls/packed-calls.ts'
import { ApiError } from '../../src/errors.ts'
import { buildTestApp } from '../support/build-test-app.ts'

const FEW = 1
const MANY = 5000

it.each(['/call/upsert_batch', '/v2/acme/demo/calls/complete', '/feedback/batch/create'])(
  '%s yields to other requests between its items',
  async (url) => {
    const { post } = await buildTestApp()
    let turns = 0
    let counting = setImmediate(function count() {
      turns += 1
      counting = setImmediate(count)
    })
    onTestFinished(() => clearImmediate(counting))
    const turnsOf = async (items: number) => {
      const before = turns
      const { body } = await post(url, { batch: Array(items).fill({}) })
      expect(body.errors).toHaveLength(items)
      return turns - before
    }
    await turnsOf(FEW)
    expect((await turnsOf(MANY)) - (await turnsOf(FEW))).toBeGreaterThan(MANY / 200)
  },
)

it('a batch pauses between long calls, too, and keeps the order of results', async () => {
  let pauses = 0
  const pause = async () => {
    pauses += 1
    await nextTurn()
  }
  const prepare = (item: unknown) => {
    if (item === 1) throw new ApiError('validation_failed')
    return { start: { start_size_bytes: 1_000_000, id: item } as never, end: null }
  }
  const { packed, items } = await prepareBatch([0, 1, 2, 3], pause, prepare)
  expect(pauses).toBe(2)
  expect(unpackCalls(packed).map(({ start }) => start?.id)).toEqual([0, 2, 3])
  expect(items.map(({ started, error }) => started?.id ?? error?.code)).toEqual([
    0,
    'validation_failed',
    2,
    3,
  ])
})
