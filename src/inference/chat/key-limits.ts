/**
 * Limits requests and tokens per minute for each key. Allowances refill evenly. Tokens are charged once an answer
 * has reported them, so a key that has used too many must wait before its next request.
 */
import type { KeyLimitSettings } from '../../domain/access/permissions.ts'
import { ApiError } from '../../errors.ts'

const MINUTE_MS = 60_000
/** Limit: keys in memory; those with a full allowance are removed first. */
const KEYS_MAX = 10_000

interface KeyLimitsOptions {
  /** Of keys without limits of their own. Null: any number. */
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  /** A clock in milliseconds. */
  readonly nowMs: () => number
}

export interface KeyLimits {
  /**
   * Takes one request from a key's allowance.
   *
   * @param own - the key's own limits
   * @returns headers with the limits and what is left of them; none if there are no limits
   * @throws ApiError rate_limit_exceeded with these headers and the time to wait
   */
  take(keyId: string, own?: KeyLimitSettings): Readonly<Record<string, string>>
  /** Does what `take` does, but takes nothing. @throws what `take` throws */
  check(keyId: string, own?: KeyLimitSettings): void
  /** Charges the tokens of a response to a request that was taken; the allowance may drop below zero. */
  charge(keyId: string, tokens: number): void
}

const KINDS = ['requests', 'tokens'] as const
type Kind = (typeof KINDS)[number]

interface Bucket {
  readonly perMinute: number
  level: number
  filledAtMs: number
}

type Buckets = Partial<Record<Kind, Bucket>>

/** Spec: §8 (rate limits not shown). Choice: header names of the OpenAI API, which client libraries read. */
export function createKeyLimits(options: KeyLimitsOptions): KeyLimits {
  const { requestsPerMinute, tokensPerMinute, nowMs } = options
  const keys = new Map<string, Buckets>()

  /** Returns the buckets of a key, whose limits may have changed since. */
  function openBuckets(keyId: string, limits: Readonly<Record<Kind, number | null>>): Buckets {
    const now = nowMs()
    const known = keys.get(keyId)
    const opened: Buckets = {}
    for (const kind of KINDS) {
      const perMinute = limits[kind]
      if (perMinute !== null) opened[kind] = openBucket(perMinute, now, known?.[kind])
    }
    if (known === undefined && keys.size >= KEYS_MAX) forget(keys, now)
    keys.set(keyId, opened)
    return opened
  }

  /** Returns the buckets of a key that may go on; null without limits. @throws ApiError rate_limit_exceeded */
  function requireRoom(keyId: string, own: KeyLimitSettings | undefined): Buckets | null {
    const limits = {
      requests: chooseLimit(own?.requests_per_minute, requestsPerMinute),
      tokens: chooseLimit(own?.tokens_per_minute, tokensPerMinute),
    }
    if (limits.requests === null && limits.tokens === null) {
      keys.delete(keyId)
      return null
    }
    const buckets = openBuckets(keyId, limits)
    const { perMinute, kind, waitMs } = longestWait(buckets)
    if (waitMs === 0) return buckets
    throw new ApiError('rate_limit_exceeded', {
      message: `The key has used up its ${perMinute} ${kind} a minute.`,
      retryAfterS: Math.ceil(waitMs / 1000),
      headers: { ...renderHeaders(buckets), 'retry-after-ms': String(waitMs) },
    })
  }

  return {
    take(keyId, own) {
      const buckets = requireRoom(keyId, own)
      if (buckets === null) return {}
      if (buckets.requests) buckets.requests.level -= 1
      return renderHeaders(buckets)
    },
    check: (keyId, own) => void requireRoom(keyId, own),
    charge(keyId, tokens) {
      const bucket = keys.get(keyId)?.tokens
      if (bucket) bucket.level -= tokens
    },
  }
}

/** Returns a limit of a key: its own, the default for null, none (null) for 0. */
export function chooseLimit(own: number | null | undefined, byDefault: number | null) {
  const limit = own ?? byDefault
  return limit === 0 ? null : limit
}

/** @param known - the bucket so far: after a change of the limit, what was used of the last one stays used */
function openBucket(perMinute: number, now: number, known: Bucket | undefined): Bucket {
  if (known === undefined) return { perMinute, level: perMinute, filledAtMs: now }
  refill(known, now)
  if (known.perMinute === perMinute) return known
  const used = known.perMinute - known.level
  return { perMinute, level: Math.min(perMinute, perMinute - used), filledAtMs: now }
}

function refill(bucket: Bucket, now: number): void {
  const gain = ((now - bucket.filledAtMs) / MINUTE_MS) * bucket.perMinute
  bucket.level = Math.min(bucket.perMinute, bucket.level + gain)
  bucket.filledAtMs = now
}

/** Removes the keys whose allowance is full and, if the table is still full, the oldest key. */
function forget(keys: Map<string, Buckets>, now: number): void {
  for (const [keyId, buckets] of keys) {
    const list = Object.values(buckets)
    for (const bucket of list) refill(bucket, now)
    if (list.every(({ level, perMinute }) => level >= perMinute)) keys.delete(keyId)
  }
  const [first] = keys.keys()
  if (keys.size >= KEYS_MAX && first !== undefined) keys.delete(first)
}

function renderHeaders(buckets: Buckets): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [kind, { perMinute, level }] of Object.entries(buckets)) {
    const resetS = ((perMinute - level) / perMinute) * (MINUTE_MS / 1000)
    headers[`x-ratelimit-limit-${kind}`] = String(perMinute)
    headers[`x-ratelimit-remaining-${kind}`] = String(Math.max(0, Math.floor(level)))
    headers[`x-ratelimit-reset-${kind}`] = `${resetS.toFixed(3)}s`
  }
  return headers
}

/** Returns the exhausted limit that takes longest to refill, and that time; 0 if none is exhausted. */
function longestWait(buckets: Buckets) {
  const waits = (Object.entries(buckets) as [Kind, Bucket][]).map(([kind, bucket]) => {
    const waitMs = Math.ceil(((1 - bucket.level) / bucket.perMinute) * MINUTE_MS)
    return { kind, perMinute: bucket.perMinute, waitMs: Math.max(0, waitMs) }
  })
  return waits.reduce((longest, wait) => (wait.waitMs > longest.waitMs ? wait : longest))
}
