/**
 * Checks the bounds of 64-bit fields exactly. A double cannot distinguish a bound from the integers next to it, so the
 * source text decides when the double equals the bound. Pure.
 */
import { ApiError } from '../../errors.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { INT64_BOUND } from '../../schemas/chat/chat-sampling-fields.ts'
import { findMembers } from '../json/json-members.ts'

/** Spec: §4.3, §8. */
const BOUND = 9_223_372_036_854_776_000n
const LOWEST = { seed: -BOUND, truncate_prompt_tokens: -1n } as const
const NAMES = Object.keys(LOWEST) as (keyof typeof LOWEST)[]

/** Limit: characters of a number whose digits are compared. */
const NUMBER_CHARS_MAX = 64
const DECIMAL = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * Lets a parsed request pass, or throws for an integer just outside its range.
 *
 * @param body - the request's text, which has been parsed before
 * @throws ApiError invalid_value
 */
export function requireIntegerBounds(request: ChatCompletionRequest, body: string): void {
  for (const name of NAMES) {
    if (Math.abs(request[name] ?? 0) < INT64_BOUND) continue
    const place = findMembers(body).findLast((member) => member.name === name)
    if (place === undefined) continue
    const source = body.slice(place.valueStart, place.valueEnd)
    if (isWithin(source, LOWEST[name])) continue
    const message = `${name} must be a whole number from ${LOWEST[name]} to ${BOUND}`
    throw new ApiError('invalid_value', { message, param: name })
  }
}

function isWithin(source: string, lowest: bigint): boolean {
  const match = source.length <= NUMBER_CHARS_MAX ? DECIMAL.exec(source) : null
  if (match === null) return false
  const [, whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  // The double lies on the bound, so neither power can be large.
  const up = 10n ** BigInt(Math.max(shift, 0))
  const down = 10n ** BigInt(Math.max(-shift, 0))
  return digits * up <= BOUND * down && digits * up >= lowest * down
}
