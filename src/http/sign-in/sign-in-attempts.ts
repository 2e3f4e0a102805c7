/** Limits failed sign-ins by account and by address. Allowances refill evenly. */
import { BlockList, isIP, SocketAddress } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'

/** Failures in a row, and milliseconds until one more is allowed. */
const OF_ACCOUNT = { burst: 10, refillMs: 60_000 }
const OF_ADDRESS = { burst: 50, refillMs: 10_000 }
/** Limit: accounts or addresses in memory; those with a full allowance are removed first. */
const ENTRIES_MAX = 10_000

interface Allowance {
  readonly burst: number
  readonly refillMs: number
}

interface SignInAttempts {
  /**
   * Takes one attempt from the allowances of an account and of an address; null: of no account. Whether the account
   * exists makes no difference.
   *
   * @returns a function that gives it back, for an attempt that succeeded
   * @throws ApiError rate_limit_exceeded
   */
  take(account: string | null, address: string): () => void
}

/** @param nowMs - a clock in milliseconds */
export function createSignInAttempts(nowMs: () => number): SignInAttempts {
  const accounts = createAllowances(OF_ACCOUNT, nowMs)
  const addresses = createAllowances(OF_ADDRESS, nowMs)
  return {
    take(account, address) {
      addresses.take(address)
      if (account !== null) accounts.take(account)
      return () => {
        addresses.giveBack(address)
        if (account !== null) accounts.giveBack(account)
      }
    },
  }
}

interface Level {
  /** Of which one attempt takes `refillMs`. */
  leftMs: number
  filledAtMs: number
}

function createAllowances({ burst, refillMs }: Allowance, nowMs: () => number) {
  const levels = new Map<string, Level>()
  const fullMs = burst * refillMs

  function refill(level: Level, now: number): void {
    level.leftMs = Math.min(fullMs, level.leftMs + now - level.filledAtMs)
    level.filledAtMs = now
  }

  /** Removes the full ones and, if the table is still full, the oldest. */
  function prune(now: number): void {
    for (const [name, level] of levels) {
      refill(level, now)
      if (level.leftMs >= fullMs) levels.delete(name)
    }
    const [first] = levels.keys()
    if (levels.size >= ENTRIES_MAX && first !== undefined) levels.delete(first)
  }

  return {
    take(name: string): void {
      const now = nowMs()
      if (!levels.has(name) && levels.size >= ENTRIES_MAX) prune(now)
      const level = levels.get(name) ?? { leftMs: fullMs, filledAtMs: now }
      levels.set(name, level)
      refill(level, now)
      if (level.leftMs < refillMs) {
        throw new ApiError('rate_limit_exceeded', {
          message: 'Too many sign-ins have failed. Try again later.',
          retryAfterS: Math.ceil((refillMs - level.leftMs) / 1000),
        })
      }
      level.leftMs -= refillMs
    },
    giveBack(name: string): void {
      const level = levels.get(name)
      if (level !== undefined) level.leftMs += refillMs
    },
  }
}

/** Peers that may be a proxy of one's own. */
const NEAR = new BlockList()
for (const [address, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  NEAR.addSubnet(address, bits, 'ipv4')
}
NEAR.addAddress('::1', 'ipv6')
NEAR.addSubnet('fc00::', 7, 'ipv6')

/**
 * The address that a client is limited by, of IPv6 the network of 64 bits. Of a proxy on this machine or in a private
 * network it is the last one of `X-Forwarded-For`, which the proxy has added.
 */
export function readClientAddress({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): string {
  const peer = ip ?? ''
  const forwarded = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
    ?.trim()
  const isNear = isIP(peer) !== 0 && NEAR.check(peer, familyOf(peer))
  return networkOf(isNear && forwarded && isIP(forwarded) ? forwarded : peer)
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

function networkOf(address: string): string {
  // IPv4 as IPv6 writes it.
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%')
  if (isIP(plain) !== 6) return plain
  const short = new SocketAddress({ address: plain, family: 'ipv6' }).address
  const [head = '', tail] = short.split('::')
  const [left, right] = [head, tail ?? ''].map((text) => text.split(':').filter(Boolean))
  const zeros = Array<string>(8).fill('0')
  const all = [...(left ?? []), ...zeros.slice((left ?? []).length + (right ?? []).length)]
  return [...all, ...(right ?? [])].slice(0, NETWORK_GROUPS).join(':')
}

/** Of 16 bits each. */
const NETWORK_GROUPS = 4
