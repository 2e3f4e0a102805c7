/**
 * Shares the sign-in among tabs of one browser: a signed-in tab passes its key to one that a link opens, and all
 * are signed out together.
 */
import { dropKey, key } from './key.ts'

type Word =
  | { readonly kind: 'asked' }
  | { readonly kind: 'given' | 'signed out'; readonly secret: string }

/** Heard by pages of the same server alone. */
const tabs = new BroadcastChannel('weft.key')

function tell(word: Word): void {
  tabs.postMessage(word)
}

/** @param onKey - called with the key of another tab, if there is one, while this tab has none */
export function joinTabs(onKey: (secret: string) => void): void {
  tabs.addEventListener('message', ({ data }: MessageEvent<Word>) => {
    if (data.kind === 'asked' && key.value !== null) tell({ kind: 'given', secret: key.value })
    if (data.kind === 'given' && key.value === null) onKey(data.secret)
    if (data.kind === 'signed out' && data.secret === key.value) dropKey()
  })
  if (key.value === null) tell({ kind: 'asked' })
}

/** Signs out every tab with the key of this one. */
export function leaveTabs(): void {
  if (key.value !== null) tell({ kind: 'signed out', secret: key.value })
}
