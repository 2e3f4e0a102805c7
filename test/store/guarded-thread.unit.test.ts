import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { startGuardedThread } from '../../src/store/sqlite/db/guarded-thread.ts'

const FILE = new URL('./support/packing-thread.ts', import.meta.url)

it('ends a thread by force, and never in the middle of work that must be whole', async () => {
  const counts = new SharedArrayBuffer(12)
  const words = new Int32Array(counts)
  const { worker, endByForce } = startGuardedThread(FILE, { workerData: { counts } })
  await once(worker, 'message')
  while (Atomics.load(words, 0) < 2) await new Promise(setImmediate)
  endByForce()
  await once(worker, 'exit')
  expect(Atomics.load(words, 1)).toBe(Atomics.load(words, 0))
})

it('lets a process end while a thread compresses', async () => {
  const script = new URL('./support/exit-while-packing.ts', import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, [script.pathname])
  const [begun, ended] = stdout.split(' ').map(Number)
  expect(begun).toBeGreaterThan(0)
  expect(ended).toBe(begun)
})
