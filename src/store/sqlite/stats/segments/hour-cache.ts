/**
 * A cache of the hours whose segments a thread has read recently, so that the next read decodes nothing. Entries are
 * matched by generation and built revision, so a rebuilt hour is a miss.
 */
import type { HourState } from './live-hours.ts'
import type { StoredSegment } from './segment.ts'

/** Limit: bytes of blobs in the cache of a thread, including the overhead of decoding. */
export const CACHED_BYTES_MAX = 32 * 1024 * 1024
/** The approximate overhead of a decoded blob, in bytes. */
const BLOB_BYTES = 1024

/** An hour whose segments are open. */
export interface OpenHour {
  readonly state: HourState
  /** Set by the caller of `open`. */
  pieces: readonly StoredSegment[]
  readonly blobs: Uint8Array[]
  bytes: number
  /** The number of reads that have it open; its blobs are valid until there are none. */
  users: number
  isKept: boolean
}

export interface HourCache {
  /** Opens a cached hour; returns null when this state of it is not cached. */
  find(state: HourState): OpenHour | null
  /** Opens an hour that was not cached; it has no segments yet. */
  open(state: HourState): OpenHour
  /** Adds a blob to an open hour. If hours in use fill the cache, this hour is dropped when it is closed. */
  addBlob(hour: OpenHour, blob: Uint8Array): void
  /** Ends the use of an hour by one read. */
  close(hour: OpenHour): void
  /** Removes an hour from the cache. */
  forget(hour: OpenHour): void
}

/** Creates an empty cache. @param bytesMax - limit of the cached bytes while no read is open */
export function createHourCache(bytesMax: number): HourCache {
  const hours = new Map<number, OpenHour>()
  /** Cached hours without readers, in the order in which they were closed. */
  const idle = new Set<OpenHour>()
  let bytes = 0

  function forget(hour: OpenHour): void {
    if (!hour.isKept) return
    hour.isKept = false
    bytes -= hour.bytes
    hours.delete(hour.state.hour_key)
    idle.delete(hour)
    if (hour.users === 0) release(hour)
  }

  return {
    find(state) {
      const known = hours.get(state.hour_key)
      if (!known) return null
      if (!isSame(known.state, state)) {
        forget(known)
        return null
      }
      idle.delete(known)
      known.users += 1
      return known
    },
    open(state) {
      const hour = { state, pieces: [], blobs: [], bytes: 0, users: 1, isKept: true }
      hours.set(state.hour_key, hour)
      return hour
    },
    addBlob(hour, blob) {
      hour.blobs.push(blob)
      if (!hour.isKept) return
      const more = blob.byteLength + BLOB_BYTES
      hour.bytes += more
      bytes += more
      for (const oldest of idle) {
        if (bytes <= bytesMax) return
        forget(oldest)
      }
      if (bytes > bytesMax) forget(hour)
    },
    close(hour) {
      hour.users -= 1
      if (hour.users > 0) return
      if (hour.isKept) idle.add(hour)
      else release(hour)
    },
    forget,
  }
}

/** Keys of hours, their generations and revisions are never reused, so equal numbers mean equal segments. */
function isSame(known: HourState, { generation, built_revision }: HourState): boolean {
  return known.generation === generation && known.built_revision === built_revision
}

/** Frees buffers at once: the garbage collector sees only the small objects and would let many buffers pile up. */
function release({ blobs }: OpenHour): void {
  for (const { buffer, byteLength } of blobs) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
  }
}
