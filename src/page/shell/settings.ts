/** The user's settings in this browser. */
import { signal } from '@preact/signals'

const NAME = 'weft.time'

export type TimeMode = 'UTC' | 'local'

/** How times are shown everywhere. */
export const timeMode = signal<TimeMode>(localStorage.getItem(NAME) === 'UTC' ? 'UTC' : 'local')

/** Remembers how times are shown. */
export function keepTimeMode(mode: TimeMode): void {
  timeMode.value = mode
  localStorage.setItem(NAME, mode)
}

/** The zone that buckets follow. */
export function timeZone(): string {
  return timeMode.value === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}
