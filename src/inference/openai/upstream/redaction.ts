/** Removes the address and the keys of an upstream from its own words, which may repeat them. */

/** Returns a text of an upstream, or JSON text, without its address and keys. */
export type Redact = (text: string) => string

/** Limit: characters of a value in a query; a shorter one is a setting, such as a version, and no key. */
const QUERY_KEY_CHARS_MIN = 8
/** Limit: a shorter key, such as a placeholder, is removed only where it stands as a word. */
const KEY_CHARS_MIN = 8

/**
 * @param url - of the upstream; its query may hold a key
 * @param apiKey - sent as Bearer token, or null
 */
export function createRedact(url: URL, apiKey: string | null): Redact {
  const { host } = url
  const keys = [...(apiKey === null ? [] : [apiKey.trim()]), ...listQueryKeys(url)]
  const forms = new Set(keys.flatMap((key) => [key, JSON.stringify(key).slice(1, -1)]))
  forms.delete('')
  if (forms.size === 0) return (text) => text.replaceAll(host, '[address]')
  // The longest first: one key may be a part of another.
  const patterns = [...forms].sort((left, right) => right.length - left.length).map(toPattern)
  const anyKey = new RegExp(patterns.join('|'), 'g')
  return (text) => text.replace(anyKey, '[key]').replaceAll(host, '[address]')
}

/** Returns the values in a query that may be keys, as they are sent and as they are meant. */
function listQueryKeys({ search, searchParams }: URL): string[] {
  const sent = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
  const meant = [...searchParams].map(([name, value]) => value || name)
  return [...sent, ...meant].filter((value) => value.length >= QUERY_KEY_CHARS_MIN)
}

function toPattern(key: string): string {
  const literal = key.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  return key.length < KEY_CHARS_MIN ? `(?<![\\w-])${literal}(?![\\w-])` : literal
}
