/** Opens connections to one address. */
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'

/** Begins a connection; `done` is called once it stands, or with the error. Destroying the socket gives it up. */
export type Connect = (done: (error: Error | null) => void) => Socket

/**
 * Prepares connections of HTTP/1.1, over TLS for `https:`.
 *
 * @param timeoutMs - until a connection stands
 *
 * Spec: §8 (not shown).
 * Choice: no HTTP/2, even where an upstream offers it: an answer has a connection of its own, so that one that
 * is cut or slow never holds up another.
 */
export function createConnect({ protocol, host, hostname, port }: URL, timeoutMs: number): Connect {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false })
  // An address of IPv6 stands in brackets in a URL only.
  const target = { protocol, host, port, hostname: hostname.replace(/^\[|\]$/g, '') }
  // The types leave out what the function gives back: the socket that is to connect.
  return (done) => connect(target, (...[error]) => done(error)) as unknown as Socket
}
