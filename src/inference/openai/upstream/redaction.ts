/** Removes the address and the keys of an upstream from its own words, which may repeat them. */
import { createKeyRedact } from '../../../outbound/key-redaction.ts'

/** Returns a text of an upstream, or JSON text, without its address and keys. */
export type Redact = (text: string) => string

/** Limit: characters of a value in a query; a shorter one is a setting, such as a version, and no key. */
const QUERY_KEY_CHARS_MIN = 8

/**
 * @param url - of the upstream; its query may hold a key
 * @param apiKey - sent as Bearer token, or null
 */
export function createRedact(url: URL, apiKey: string | null): Redact {
  const { host } = url
  const redactKeys = createKeyRedact([...(apiKey === null ? [] : [apiKey]), ...listQueryKeys(url)])
  return (text) => redactKeys(text).replaceAll(host, '[address]')
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
