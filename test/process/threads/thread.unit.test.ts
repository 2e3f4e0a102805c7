import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished, vi } from 'vitest'
import { DATABASE_FILE, openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { createInlineThread, startThread, ThreadLostError } from '../../../src/threads/thread.ts'
import { ENDING, INSIDE } from '../../../src/threads/whole-work.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const FILE = new URL('./packing-thread.ts', import.meta.url)

function openThread(options: Parameters<typeof startThread<string, unknown, string>>[1] = {}) {
  const entry = new URL('./serving-entry.ts', import.meta.url)
  const thread = startThread<string, unknown, string>(entry, options)
  onTestFinished(() => thread.close(0))
  return thread
}

it('resolves each call with its own reply, and reports notices before the replies behind them', async () => {
  const notices: string[] = []
  const thread = openThread({ onNotice: (notice) => notices.push(notice) })
  const replies = await Promise.all(['a', 'b', 'bytes'].map((request) => thread.call(request)))
  expect(replies).toEqual(['a', 'b', new Uint8Array(8)])
  expect(notices).toEqual(['a', 'b', 'bytes'])
})

it('rejects a call with the ApiError of the thread, or internal_error for any other error', async () => {
  const thread = openThread()
  await expect(thread.call('refuse')).rejects.toMatchObject({
    code: 'call_conflict',
    param: 'id',
    retryAfterS: 7,
  })
  await expect(thread.call('fail')).rejects.toMatchObject({ code: 'internal_error' })
})

it('rejects a request that cannot be cloned, and serves the next one', async () => {
  const thread = openThread()
  await expect(thread.call((() => undefined) as never)).rejects.toThrow('could not be cloned')
  expect(await thread.call('next')).toBe('next')
})

it('rejects all calls of a thread that dies, and later ones', async () => {
  const onLost = vi.fn()
  const thread = openThread({ onLost })
  const ends = await Promise.allSettled(['wait', 'die'].map((request) => thread.call(request)))
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(onLost.mock.calls).toMatchObject([[{ isCrash: true, isOutOfMemory: false }]])
  await expect(thread.call('later')).rejects.toThrow(ThreadLostError)
})

it('lets a call end when its signal aborts', async () => {
  const abort = new AbortController()
  const reply = openThread().call('wait', { signal: abort.signal })
  abort.abort()
  expect(await reply).toBe('wait')
})

it('closes a thread after its last request, and terminates one that does not end in time', async () => {
  const onLost = vi.fn()
  const thread = openThread({ onLost })
  const reply = thread.call('last')
  await thread.close(10_000)
  expect(await reply).toBe('last')
  const busy = openThread({ onLost })
  const waiting = busy.call('wait').catch((error: Error) => error.message)
  await busy.close(100)
  expect(await waiting).toBe('the thread was terminated')
  expect(onLost).not.toHaveBeenCalled()
})

it('serves calls inline with the copies and errors of a thread', async () => {
  const notices: string[] = []
  const request = { at: 1 }
  const thread = createInlineThread<{ at: number }, unknown, string>(
    (notify) => ({
      async run(received) {
        notify('served')
        if (received.at > 1) throw new TypeError('broken')
        return { received, isCopy: received !== request }
      },
      close: () => notices.push('closed'),
    }),
    { onNotice: (notice) => notices.push(notice) },
  )
  expect(await thread.call(request)).toEqual({ received: request, isCopy: true })
  await expect(thread.call({ at: 2 })).rejects.toMatchObject({ code: 'internal_error' })
  await thread.close(0)
  expect(notices).toEqual(['served', 'served', 'closed'])
})

it('terminates a thread, but never in the middle of work that must be whole', async () => {
  const counts = new SharedArrayBuffer(12)
  const words = new Int32Array(counts)
  const thread = startThread<never, never>(FILE, { data: { counts } })
  while (Atomics.load(words, 0) < 2) await new Promise(setImmediate)
  thread.terminate()
  const begun = Atomics.load(words, 0)
  expect(Atomics.load(words, 1)).toBe(begun)
  await setTimeout(100)
  expect(Atomics.load(words, 0)).toBe(begun)
})

it('lets a process end while a thread compresses', async () => {
  const script = new URL('./exit-while-packing.ts', import.meta.url)
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
  const entry = new URL('./opening-thread.ts', import.meta.url)
  const workerData = { path: join(dataDir, DATABASE_FILE), wholeWork }
  const worker = new Worker(entry, { workerData })
  onTestFinished(async () => void (await worker.terminate()))
  const first = await Promise.race([hasLeft, once(worker, 'message').then(([text]) => text)])
  expect(first).toBe('ok')
})
