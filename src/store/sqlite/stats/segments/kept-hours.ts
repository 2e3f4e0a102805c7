/**
 * The hours whose pieces a thread has read lately, so that asking again reads and decodes nothing. The key of an hour
 * is what its row says of its pieces, so an hour that was built anew is another one.
 */
import type { HourState } from './live-hours.ts'
import type { StoredPiece } from './segment.ts'

/** Limit: bytes of blobs that a thread keeps, with what it takes to read them. */
export const KEPT_BYTES_MAX = 32 * 1024 * 1024
/** What a decoded blob takes beside its bytes, about. */
const BLOB_BYTES = 1024

/** An hour whose pieces are open. */
export interface OpenHour {
  readonly state: HourState
  /** Set by who opens it. */
  pieces: readonly StoredPiece[]
  readonly blobs: Uint8Array[]
  bytes: number
  /** How many reads have it open; its blobs stay as long. */
  users: number
  isKept: boolean
}

export interface KeptHours {
  /** The hour, opened once more; null where it is not known as it is. */
  find(state: HourState): OpenHour | null
  /** An hour that was not known; without pieces as yet. */
  open(state: HourState): OpenHour
  /** A blob of an open hour. Where hours that are being read fill the room, the hour goes when it is closed. */
  addBlob(hour: OpenHour, blob: Uint8Array): void
  /** The reader is done with it. */
  close(hour: OpenHour): void
  /** Has it found no more. */
  forget(hour: OpenHour): void
}

/** @param bytesMax - limit of what is kept while nothing is read */
export function createKeptHours(bytesMax: number): KeptHours {
  const hours = new Map<number, OpenHour>()
  /** Those that nobody reads, in the order in which they were closed. */
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

/** No key of an hour is given out twice, and neither number of it. */
function isSame(known: HourState, { generation, built_revision }: HourState): boolean {
  return known.generation === generation && known.built_revision === built_revision
}

/** Gives buffers back at once. A collector, which sees small objects alone, would let many pile up. */
function release({ blobs }: OpenHour): void {
  for (const { buffer, byteLength } of blobs) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
  }
}
