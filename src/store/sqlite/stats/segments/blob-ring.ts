/**
 * Keeps blobs in one piece of memory that is filled round and round: what is kept never takes more than that,
 * and letting go leaves nothing behind for a collector.
 */

/** Typed arrays of all kinds can begin at its multiples. */
const ALIGNMENT = 8
/** Limit: bytes for which there was no room that are held until the round ends; the collector finds the rest. */
const LOOSE_BYTES_MAX = 16 * 1024 * 1024

/** A blob that is kept. */
export interface KeptBlob<Value> {
  readonly revision: number
  readonly value: Value
}

export interface BlobRing<Value> {
  /** Begins a round: what is kept or recalled from here on stays as it is until the next one. */
  begin(): void
  /** Ends the round: values that are not kept are of no use any more. */
  end(): void
  /** What is kept under a key. */
  recall(key: number): KeptBlob<Value> | null
  /**
   * Keeps a blob in the place of the oldest ones.
   *
   * @param bytes - of no use afterwards, as their buffer may be given back
   * @param make - its value, out of bytes that are those of the ring when there is room, and `bytes` else
   * @returns the value, which may be of no use after the round; it is not kept when there is no room
   * but that of this round, or when it is null
   */
  keep(
    key: number,
    revision: number,
    bytes: Uint8Array,
    make: (bytes: Uint8Array) => Value | null,
  ): Value | null
}

interface Entry<Value> extends KeptBlob<Value> {
  readonly key: number
  readonly at: number
  /** The last round that used it. */
  round: number
}

export function createBlobRing<Value>(bytesMax: number): BlobRing<Value> {
  let memory: Uint8Array | null = null
  const byKey = new Map<number, Entry<Value>>()
  /** The oldest first, along the ring. */
  const inOrder = new Set<Entry<Value>>()
  let next = 0
  let round = 0
  let loose: Uint8Array[] = []
  let looseBytes = 0

  /** @returns whether nothing that lies from `next` to before `end` is needed any more */
  function clear(end: number): boolean {
    for (const oldest of inOrder) {
      if (oldest.at < next || oldest.at >= end) return true
      if (oldest.round === round) return false
      inOrder.delete(oldest)
      if (byKey.get(oldest.key) === oldest) byKey.delete(oldest.key)
    }
    return true
  }

  /** @returns where so many bytes may be written, -1 for nowhere */
  function findRoom(bytes: number): number {
    if (bytes > bytesMax) return -1
    if (next + bytes > bytesMax) {
      if (!clear(bytesMax)) return -1
      next = 0
    }
    return clear(next + bytes) ? next : -1
  }

  return {
    begin() {
      round += 1
    },
    end() {
      for (const bytes of loose) release(bytes)
      loose = []
      looseBytes = 0
    },
    recall(key) {
      const found = byKey.get(key)
      if (!found) return null
      found.round = round
      return found
    },
    keep(key, revision, bytes, make) {
      // Why not 0: what has no length of its own could stand behind the last byte, where it is never cleared.
      const size = Math.ceil(Math.max(bytes.length, 1) / ALIGNMENT) * ALIGNMENT
      const at = findRoom(size)
      if (at === -1) {
        looseBytes += bytes.length
        if (looseBytes <= LOOSE_BYTES_MAX) loose.push(bytes)
        return make(bytes)
      }
      memory ??= new Uint8Array(bytesMax)
      memory.set(bytes, at)
      const copy = memory.subarray(at, at + bytes.length)
      release(bytes)
      const value = make(copy)
      if (value === null) return null
      const entry = { key, revision, value, at, round }
      byKey.set(key, entry)
      inOrder.add(entry)
      next = at + size
      return value
    },
  }
}

/** Gives a buffer back at once. A collector, which sees small objects alone, would let many pile up. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
