/** Redacts API keys in responses of the servers to which they are sent, which may repeat them. */

/** Limit: a shorter key, such as a placeholder, is removed only where it stands as a word. */
const KEY_CHARS_MIN = 8

/** Creates a function that replaces the keys in a text or a JSON text by `[key]`. */
export function createKeyRedact(keys: readonly string[]): (text: string) => string {
  const forms = new Set(
    keys.flatMap((key) => [key.trim(), JSON.stringify(key.trim()).slice(1, -1)]),
  )
  forms.delete('')
  if (forms.size === 0) return (text) => text
  // The longest first: one key may be a part of another.
  const patterns = [...forms].sort((left, right) => right.length - left.length).map(toPattern)
  const anyKey = new RegExp(patterns.join('|'), 'g')
  return (text) => text.replace(anyKey, '[key]')
}

function toPattern(key: string): string {
  const literal = key.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  return key.length < KEY_CHARS_MIN ? `(?<![\\w-])${literal}(?![\\w-])` : literal
}
