import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { nicenessOf } from '../../support/niceness.ts'

const ownNiceness = () => nicenessOf(readFileSync('/proc/thread-self/stat', 'utf8'))

/** The niceness of a thread that has lowered its priority so, one after the other. */
async function lowerTo(...steps: readonly number[]): Promise<number> {
  const module = new URL('../../../src/threads/thread-priority.ts', import.meta.url).href
  const source = `
    import { readFileSync } from 'node:fs'
    import { parentPort } from 'node:worker_threads'
    import { lowerThreadPriority } from ${JSON.stringify(module)}
    for (const niceness of ${JSON.stringify(steps)}) lowerThreadPriority(niceness)
    parentPort.postMessage(readFileSync('/proc/thread-self/stat', 'utf8'))`
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`)
  const [stat] = (await once(new Worker(url), 'message')) as [string]
  return nicenessOf(stat)
}

describe.runIf(process.platform === 'linux')('lowerThreadPriority', () => {
  it('the priority of the calling thread alone is lowered', async () => {
    const before = ownNiceness()
    expect(await lowerTo(7)).toBe(Math.max(before, 7))
    expect(ownNiceness()).toBe(before)
  })

  it('a lower priority is not raised', async () => {
    expect(await lowerTo(19, 7)).toBe(19)
  })
})
