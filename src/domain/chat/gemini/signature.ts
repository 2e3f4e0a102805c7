/**
 * What a model needs again to go on, in the member that clients of the Gemini API return as they got it: base64 of JSON, as
 * the member holds bytes. Pure.
 */
import { isObject } from '../../json/is-object.ts'
import { parseObject } from '../../json/json-values.ts'

/** Limits: details in a signature, and its characters. */
const DETAILS_MAX = 256
const CHARS_MAX = 4 * 1024 * 1024

interface Continuation {
  /** Of the message. */
  readonly reasoning_details: readonly unknown[]
  /** Of the call that has the signature; null: none. */
  readonly extra_content: unknown
}

const NONE: Continuation = { reasoning_details: [], extra_content: null }

/** Returns a signature; null where there is nothing to keep. */
export function renderSignature({ reasoning_details, extra_content }: Continuation): string | null {
  if (reasoning_details.length === 0 && !isObject(extra_content)) return null
  const kept = { weft: 1, reasoning_details, extra_content }
  return Buffer.from(JSON.stringify(kept)).toString('base64')
}

/** Reads a signature that `renderSignature` wrote; others, which only their makers can read, hold nothing. */
export function parseSignature(signature: unknown): Continuation {
  if (typeof signature !== 'string' || signature.length > CHARS_MAX) return NONE
  const kept = parseObject(Buffer.from(signature, 'base64').toString())
  if (kept?.weft !== 1 || !Array.isArray(kept.reasoning_details)) return NONE
  const reasoning_details = kept.reasoning_details.filter(isObject).slice(0, DETAILS_MAX)
  return {
    reasoning_details,
    extra_content: isObject(kept.extra_content) ? kept.extra_content : null,
  }
}
