import { expect, it } from 'vitest'
import { forEach } from '../../src/evaluations/scoring.ts'

it('begins no row after the first error, which is thrown once the rows that run have ended', async () => {
  const { signal } = new AbortController()
  const gate = Promise.withResolvers<void>()
  const begun: number[] = []
  const ended: number[] = []
  const run = forEach(10, signal, async (index) => {
    begun.push(index)
    if (index === 2) throw new Error('first')
    await gate.promise
    ended.push(index)
    if (index === 0) throw new Error('second')
  })
  let isOver = false
  const rejected = run.catch((error: Error) => {
    isOver = true
    return error.message
  })
  await new Promise(setImmediate)
  expect([isOver, begun]).toEqual([false, [0, 1, 2, 3]])
  gate.resolve()
  expect(await rejected).toBe('first')
  expect([begun, ended]).toEqual([
    [0, 1, 2, 3],
    [0, 1, 3],
  ])
})
