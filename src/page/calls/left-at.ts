/** Where the list of calls was left, for the way back to it. Gone when the page is loaded anew. */
import { cameBack } from '../shell/location.ts'

interface LeftAt {
  /** Calls up to then were listed; later ones would move the rows. */
  readonly untilMs: number
  /** Pixels above the rows in sight. */
  readonly top: number
}

/** Limit: lists that are kept, the newest ones. */
const LISTS_MAX = 50
const lists = new Map<string, LeftAt>()

/** Null for who did not come back. */
export function findLeftAt(): LeftAt | null {
  return cameBack() ? (lists.get(location.href) ?? null) : null
}

export function keepLeftAt(at: LeftAt): void {
  lists.delete(location.href)
  lists.set(location.href, at)
  const [oldest] = lists.keys()
  if (lists.size > LISTS_MAX && oldest !== undefined) lists.delete(oldest)
}
