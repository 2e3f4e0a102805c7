import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { DATABASE_FILE, openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { startGuardedThread } from '../../src/threads/thread.ts'
import { ENDING, INSIDE } from '../../src/threads/whole-work.ts'
import { makeTempDir } from '../support/temp-dir.ts'

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

it('opens no database in a thread that is being ended', async () => {
  const dataDir = makeTempDir()
  openDatabase(dataDir).close()
  const wholeWork = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  const words = new Int32Array(wholeWork)
  Atomics.store(words, ENDING, 1)
  const { async: isAsync, value: hasLeft } = Atomics.waitAsync(words, INSIDE, 0)
  expect(isAsync).toBe(true)
  const entry = new URL('./support/opening-thread.ts', import.meta.url)
  const workerData = { path: join(dataDir, DATABASE_FILE), wholeWork }
  const worker = new Worker(entry, { workerData })
  onTestFinished(async () => void (await worker.terminate()))
  const first = await Promise.race([hasLeft, once(worker, 'message').then(([text]) => text)])
  expect(first).toBe('ok')
})
