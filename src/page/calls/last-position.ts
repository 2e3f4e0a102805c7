/** Scroll position of the list of calls, for returning to it. Lost when the page is reloaded. */
import { cameBack } from '../shell/location.ts'

interface LeftAt {
  /** Time up to which calls were listed; later ones would shift the rows. */
  readonly untilMs: number
  /** Pixels above the visible rows. */
  readonly top: number
}

/** Limit: remembered lists, the newest ones. */
const LISTS_MAX = 50
const lists = new Map<string, LeftAt>()

/** Returns null if the user did not return to a list. */
export function findLastPosition(): LeftAt | null {
  return cameBack() ? (lists.get(location.href) ?? null) : null
}

export function saveLastPosition(at: LeftAt): void {
  lists.delete(location.href)
  lists.set(location.href, at)
  const [oldest] = lists.keys()
  if (lists.size > LISTS_MAX && oldest !== undefined) lists.delete(oldest)
}
