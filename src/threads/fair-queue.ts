/**
 * A round-robin queue: keys take turns, and within the turns of a key its projects do. Items of the same key and
 * project are first in, first out. Independent of what its items are.
 */

/** The key and project in whose turn an item is taken. */
export interface Share {
  readonly keyId: string
  readonly project_id: string
}

/** An item of a queue; `bytes` defaults to 0. */
interface QueueItem extends Share {
  readonly bytes?: number
}

interface FairQueue<Item extends QueueItem> {
  push(item: Item): void
  /**
   * Removes and returns the next item.
   *
   * @param canTake - called with the first item of each key and project; a refused one keeps its turn
   */
  take(canTake?: (item: Item) => boolean): Item | undefined
  remove(item: Item): void
  /** Returns the last item of the longest line if that is longer than that of `share`: its turn is farthest away. */
  lastOfLonger(share: Share): Item | undefined
  size(): number
  /** The bytes of all items. */
  bytes(): number
  /** Removes and returns all items. */
  clear(): Item[]
}

export function createFairQueue<Item extends QueueItem>(): FairQueue<Item> {
  /** Items by key and project; the order of a map is the order of turns. */
  let keys = new Map<string, Map<string, Item[]>>()
  let size = 0
  let bytes = 0

  /** Removes an item from its list, which must hold it; the rest of the list moves to the end. */
  function takeOut(item: Item): void {
    const { keyId, project_id } = item
    const projects = keys.get(keyId) as Map<string, Item[]>
    const rest = (projects.get(project_id) as Item[]).filter((other) => other !== item)
    projects.delete(project_id)
    if (rest.length > 0) projects.set(project_id, rest)
    keys.delete(keyId)
    if (projects.size > 0) keys.set(keyId, projects)
    size -= 1
    bytes -= item.bytes ?? 0
  }

  return {
    push(item) {
      const { keyId, project_id } = item
      const projects = keys.get(keyId) ?? new Map<string, Item[]>()
      const items = projects.get(project_id) ?? []
      items.push(item)
      projects.set(project_id, items)
      keys.set(keyId, projects)
      size += 1
      bytes += item.bytes ?? 0
    },
    take(canTake = () => true) {
      for (const projects of keys.values()) {
        for (const [first] of projects.values()) {
          if (first === undefined || !canTake(first)) continue
          takeOut(first)
          return first
        }
      }
      return undefined
    },
    remove(item) {
      if (keys.get(item.keyId)?.get(item.project_id)?.includes(item)) takeOut(item)
    },
    lastOfLonger({ keyId, project_id }) {
      let longest = keys.get(keyId)?.get(project_id) ?? []
      for (const projects of keys.values()) {
        for (const items of projects.values()) if (items.length > longest.length) longest = items
      }
      const isOwn = longest[0]?.keyId === keyId && longest[0].project_id === project_id
      return isOwn ? undefined : longest.at(-1)
    },
    size: () => size,
    bytes: () => bytes,
    clear() {
      const items = [...keys.values()].flatMap((projects) => [...projects.values()].flat())
      keys = new Map()
      size = 0
      bytes = 0
      return items
    },
  }
}
