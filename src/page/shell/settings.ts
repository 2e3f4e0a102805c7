/** The user's settings in this browser. */
import { effect, signal } from '@preact/signals'

const NAME = 'weft.time'

/** How times are shown everywhere. */
export const timeMode = signal<'UTC' | 'local'>(
  localStorage.getItem(NAME) === 'UTC' ? 'UTC' : 'local',
)

effect(() => localStorage.setItem(NAME, timeMode.value))

/** The zone that buckets follow. */
export function timeZone(): string {
  return timeMode.value === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
}
