/**
 * Limits requests and tokens per minute for each key. Allowances refill evenly. Tokens are charged once an answer
 * has reported them, so a key that has used too many must wait before its next request.
 */
import { ApiError } from '../../errors.ts'

const MINUTE_MS = 60_000
/** Limit: keys in memory; those with a full allowance are removed first. */
const KEYS_MAX = 10_000

interface KeyLimitsOptions {
  /** Null: any number. */
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  /** A clock in milliseconds. */
  readonly nowMs: () => number
}

export interface KeyLimits {
  readonly countsTokens: boolean
  /**
   * Takes one request from a key's allowance.
   *
   * @returns headers with the limits and what is left of them; none if there are no limits
   * @throws ApiError rate_limit_exceeded with these headers and the time to wait
   */
  take(keyId: string): Readonly<Record<string, string>>
  /** Charges the tokens of an answer; the allowance may drop below zero. */
  charge(keyId: string, tokens: number): void
}

type Kind = 'requests' | 'tokens'

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

  function bucketsOf(keyId: string): Buckets {
    const now = nowMs()
    const known = keys.get(keyId)
    if (known) {
      for (const bucket of Object.values(known)) refill(bucket, now)
      return known
    }
    if (keys.size >= KEYS_MAX) forget(keys, now)
    const made: Buckets = {
      ...(requestsPerMinute === null ? {} : { requests: openBucket(requestsPerMinute, now) }),
      ...(tokensPerMinute === null ? {} : { tokens: openBucket(tokensPerMinute, now) }),
    }
    keys.set(keyId, made)
    return made
  }

  return {
    countsTokens: tokensPerMinute !== null,
    take(keyId) {
      if (requestsPerMinute === null && tokensPerMinute === null) return {}
      const buckets = bucketsOf(keyId)
      const { perMinute, kind, waitMs } = longestWait(buckets)
      if (waitMs > 0) {
        throw new ApiError('rate_limit_exceeded', {
          message: `The key has used up its ${perMinute} ${kind} a minute.`,
          retryAfterS: Math.ceil(waitMs / 1000),
          headers: { ...renderHeaders(buckets), 'retry-after-ms': String(waitMs) },
        })
      }
      if (buckets.requests) buckets.requests.level -= 1
      return renderHeaders(buckets)
    },
    charge(keyId, tokens) {
      const { tokens: bucket } = bucketsOf(keyId)
      if (bucket) bucket.level -= tokens
    },
  }
}

function openBucket(perMinute: number, now: number): Bucket {
  return { perMinute, level: perMinute, filledAtMs: now }
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
