/** Reads the key from the headers of clients that cannot choose an authorization scheme. Pure. */

type HeaderValues = Readonly<Record<string, string | string[] | undefined>>

/** The key of `Authorization` (Basic, Bearer or alone), `wandb-api-key` or `x-api-key`; null when there is none. */
export function keyOfHeaders(headers: HeaderValues): string | null {
  const sent = headers.authorization ?? headers['wandb-api-key'] ?? headers['x-api-key']
  if (typeof sent !== 'string' || sent.trim() === '') return null
  // Exporters take headers from a variable in which spaces are percent-encoded.
  const value = sent.replace(/%20/g, ' ').trim()
  const [, scheme = '', rest = value] = /^(basic|bearer) +(.*)$/i.exec(value) ?? []
  if (scheme.toLowerCase() !== 'basic') return rest.trim()
  const credentials = Buffer.from(rest, 'base64').toString()
  return credentials.slice(credentials.indexOf(':') + 1)
}

/** The user name of Basic credentials; null when there are none. */
export function userOfHeaders({ authorization }: HeaderValues): string | null {
  const [, encoded] = /^basic(?: |%20)+(.*)$/i.exec(String(authorization ?? '').trim()) ?? []
  if (encoded === undefined) return null
  const [user = ''] = Buffer.from(encoded, 'base64').toString().split(':', 1)
  return user
}

/** Headers in which clients of Anthropic's and Google's APIs send a key. */
const KEY_HEADERS = ['x-api-key', 'x-goog-api-key'] as const

/** The keys of `Authorization: Bearer`, `x-api-key` and `x-goog-api-key`, in this order; none where there is none of them. */
export function keysOfHeaders(headers: HeaderValues): string[] {
  const [, token = ''] = /^bearer +(.*)$/i.exec(String(headers.authorization ?? '').trim()) ?? []
  const keys = KEY_HEADERS.map((name) => headers[name])
  return [token, ...keys.map((key) => (typeof key === 'string' ? key : ''))]
    .map((sent) => sent.trim())
    .filter((sent) => sent !== '')
}
