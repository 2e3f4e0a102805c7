/** Names that nobody else has. */

/** Browsers offer `crypto.randomUUID` only to pages over HTTPS. */
export function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
