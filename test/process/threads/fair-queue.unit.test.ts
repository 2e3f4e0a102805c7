import { describe, expect, it } from 'vitest'
import { createFairQueue } from '../../../src/threads/fair-queue.ts'

interface Item {
  readonly name: string
  readonly keyId: string
  readonly project_id: string
}

/** `a/x1` waits for key a and project x. */
function open(...names: string[]) {
  const queue = createFairQueue<Item>()
  const items = names.map((name) => ({
    name,
    keyId: name[0] as string,
    project_id: name[2] as string,
  }))
  for (const item of items) queue.push(item)
  return { queue, items }
}

function drain(queue: ReturnType<typeof createFairQueue<Item>>): string[] {
  const names = []
  for (let item = queue.take(); item; item = queue.take()) names.push(item.name)
  return names
}

describe('createFairQueue', () => {
  it('keys take turns, and the projects of a key take turns within them', () => {
    const { queue } = open('a/x1', 'a/x2', 'a/x3', 'a/y1', 'b/x1', 'b/x2')
    expect(drain(queue)).toEqual(['a/x1', 'b/x1', 'a/y1', 'b/x2', 'a/x2', 'a/x3'])
  })

  it('an entry that may not run yet is skipped and keeps its position', () => {
    const { queue } = open('a/x1', 'b/x1')
    expect(queue.take(({ keyId }) => keyId !== 'a')?.name).toBe('b/x1')
    expect(queue.take(() => false)).toBeUndefined()
    expect(drain(queue)).toEqual(['a/x1'])
  })

  it("the last entry of the longest line is evicted, unless it is the caller's own line", () => {
    const { queue, items } = open('a/x1', 'a/x2', 'b/x1')
    expect(queue.lastOfLonger({ keyId: 'c', project_id: 'x' })?.name).toBe('a/x2')
    expect(queue.lastOfLonger({ keyId: 'a', project_id: 'x' })).toBeUndefined()
    queue.remove(items[1] as Item)
    expect(queue.lastOfLonger({ keyId: 'b', project_id: 'x' })).toBeUndefined()
    expect(queue.size()).toBe(2)
    expect(queue.clear()).toHaveLength(2)
    expect(queue.size()).toBe(0)
  })
})
