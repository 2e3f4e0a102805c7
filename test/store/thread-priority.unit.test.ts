import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { nicenessOf } from '../support/niceness.ts'

describe.runIf(process.platform === 'linux')('lowerThreadPriority', () => {
  it('lowers that of its own thread alone', async () => {
    const module = new URL('../../src/store/sqlite/db/thread-priority.ts', import.meta.url).href
    const source = `
      import { readFileSync } from 'node:fs'
      import { parentPort } from 'node:worker_threads'
      import { lowerThreadPriority } from ${JSON.stringify(module)}
      lowerThreadPriority(7)
      parentPort.postMessage(readFileSync('/proc/thread-self/stat', 'utf8'))`
    const before = nicenessOf(readFileSync('/proc/thread-self/stat', 'utf8'))
    const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
    const worker = new Worker(url)
    const [stat] = (await once(worker, 'message')) as [string]
    expect(nicenessOf(stat)).toBe(Math.max(before, 7))
    expect(nicenessOf(readFileSync('/proc/thread-self/stat', 'utf8'))).toBe(before)
  })
})
