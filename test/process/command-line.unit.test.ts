import { afterEach, expect, it, vi } from 'vitest'
import { runCommand } from '../../src/command-line.ts'
import { ApiError } from '../../src/errors.ts'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

it.each([
  [new Error('nothing is there'), 'nothing is there'],
  [new ApiError('store_unavailable'), 'The store cannot be used.'],
  [
    new ApiError('store_unavailable', { cause: new Error('the disk is full\n    at a function') }),
    'The store cannot be used. (the disk is full)',
  ],
])('a command that fails with %s prints one line', async (error, line) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  await runCommand('usage: weft', () => Promise.reject(error))
  expect(write.mock.calls).toEqual([[`weft: ${line}\n`]])
  expect(process.exitCode).toBe(1)
})
