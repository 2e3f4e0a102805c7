/**
 * Requests to addresses that clients name: by POST, without redirects, within limits of time and bytes. Hosts of private
 * networks are refused when they are resolved, so that a name cannot change its address after a check.
 */
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, fetch, type Response } from 'undici'

/** Limit: bytes of a response. */
const RESPONSE_BYTES_MAX = 1024 * 1024
const CONNECT_MS_MAX = 10_000

/** Networks that are not public. Those of IPv4 also count as mapped into IPv6. */
const PRIVATE_NETWORKS: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2001::', 32, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
]

/** Thrown for an address in a private network. */
export class PrivateAddressError extends Error {
  constructor(host: string) {
    super(`${host} is in a private network, and not among WEFT_WEBHOOK_HOSTS`)
    this.name = 'PrivateAddressError'
  }
}

interface WebhookRequest {
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Whether only the status counts, and the rest of the response is not read. Default: false. */
  readonly isStatusEnough?: boolean
}

interface WebhookResponse {
  /** HTTP status, also of failures. */
  readonly status: number
  /** Empty where the status is enough. */
  readonly text: string
}

export interface Webhooks {
  /** @throws Error when no whole response comes in time; PrivateAddressError */
  post(request: WebhookRequest): Promise<WebhookResponse>
  close(): Promise<void>
}

const blocked = new BlockList()
for (const network of PRIVATE_NETWORKS) blocked.addSubnet(...network)

function isPrivate(address: string): boolean {
  return blocked.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Returns why no request is sent to an address, or null. A name is resolved only when it is connected to.
 *
 * @param allowedHosts - as createWebhooks takes them
 */
export function findAddressFault(text: string, allowedHosts: readonly string[]): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an http or https address'
  if (url.username !== '' || url.password !== '') return 'must not contain a user or password'
  const host = hostOf(url)
  const isLocal = isIP(host) !== 0 ? isPrivate(host) : /^(?:.+\.)?localhost\.?$/.test(host)
  if (!isLocal || allowedHosts.includes('*') || allowedHosts.includes(host)) return null
  return 'must not be in a private network, unless it is among WEFT_WEBHOOK_HOSTS'
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Reads a body whose bytes are limited as decoded: the agent counts those of the connection, which may be compressed. */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > RESPONSE_BYTES_MAX) throw new Error('the response has too many bytes')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** @param allowedHosts - names or addresses, as in URLs, that may be in private networks; `*`: all */
export function createWebhooks(allowedHosts: readonly string[]): Webhooks {
  const isAllowed = (host: string) => allowedHosts.includes('*') || allowedHosts.includes(host)

  const lookupPublic: LookupFunction = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const isRefused = !isAllowed(host) && addresses.some(({ address }) => isPrivate(address))
      if (isRefused) return callback(new PrivateAddressError(host), [])
      const [first] = addresses
      if (options.all || first === undefined) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
  }
  const agent = new Agent({
    connect: { lookup: lookupPublic, timeout: CONNECT_MS_MAX },
    maxResponseSize: RESPONSE_BYTES_MAX,
  })

  return {
    async post({ url, body, headers = {}, timeoutMs, signal, isStatusEnough = false }) {
      const host = hostOf(new URL(url))
      // A literal address is connected to without a look-up.
      if (isIP(host) !== 0 && isPrivate(host) && !isAllowed(host)) {
        throw new PrivateAddressError(host)
      }
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        dispatcher: agent,
      })
      if (!isStatusEnough) return { status: response.status, text: await readText(response) }
      await response.body?.cancel()
      return { status: response.status, text: '' }
    },
    close: () => agent.destroy(),
  }
}
