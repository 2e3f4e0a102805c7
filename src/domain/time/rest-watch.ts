/** Decides when memory taken under load should be released. */

/** How often is looked. */
export const LOOK_EVERY_MS = 5000
/** Share of its time that an event loop works at most when it is at rest. */
const REST_MAX = 0.05
/** Growth since it was last at rest from which on a pause of some 100 ms is worth it. */
const GROWTH_FROM = 1.25

interface RestLook {
  /** Share of the time since the last look in which the event loop worked, 0 to 1. */
  readonly utilization: number
  /** Memory of what is watched. */
  readonly bytes: number
}

/** Tells when to collect: at the second quiet look after load, where memory has grown. */
export function createRestWatch(startBytes: number) {
  let restBytes = startBytes
  let quietLooks = 0
  return {
    isDue({ utilization, bytes }: RestLook): boolean {
      quietLooks = utilization > REST_MAX ? 0 : quietLooks + 1
      return quietLooks === 2 && bytes >= restBytes * GROWTH_FROM
    },
    /** What was left of it. */
    noteCollected(bytes: number): void {
      restBytes = bytes
    },
  }
}
