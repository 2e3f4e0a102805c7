/** The API key of the signed-in user, stored only in the tabs that are signed in. */
import { signal } from '@preact/signals'

const NAME = 'weft.key'

export const key = signal<string | null>(readKey())
/** Whether the cookie of the browser has the session of a person, which counts where there is no key. */
export const hasSession = signal(false)
/** Why the key was removed. */
export const signedOutBecause = signal<string | null>(null)

function readKey(): string | null {
  const linked = takeLinked('key')
  if (linked === null) return sessionStorage.getItem(NAME)
  sessionStorage.setItem(NAME, linked)
  return linked
}

/**
 * A link with `#key=...` signs in, one with `#password=...` sets a password; the secret is removed from the address at once,
 * and never reaches the server's log.
 */
export function takeLinked(name: 'key' | 'password'): string | null {
  const linked = new URLSearchParams(location.hash.slice(1)).get(name)
  if (linked !== null) history.replaceState(null, '', location.pathname + location.search)
  return linked
}

/** Whether the key is valid in a header. */
export function isKeyText(secret: string): boolean {
  return /^[\x21-\x7e]+$/.test(secret)
}

export function keepKey(secret: string): void {
  sessionStorage.setItem(NAME, secret)
  signedOutBecause.value = null
  key.value = secret
}

export function dropKey(reason: string | null = null): void {
  sessionStorage.removeItem(NAME)
  signedOutBecause.value = reason
  hasSession.value = false
  key.value = null
}
