/**
 * Keeps constrained text well-formed UTF-8. For a character beyond ASCII the grammar engine accepts any bytes of the
 * right count, surrogates and overlong forms included. Each of these bytes would be decoded to a U+FFFD of its own, and
 * a text would grow longer than its schema allows. Pure.
 */
import type { TokenMask } from '../sampling/vocabulary-limits.ts'
import { BYTE_OF_CHARACTER } from '../text/byte-characters.ts'

/** Outside of UTF-8 altogether. */
const INVALID_BYTE = 0xff
/** Limit: cached masks; a vocabulary with a token for each byte can leave thousands of beginnings. */
const MASKS_MAX = 1_024

/** The bytes of one choice. */
export interface Utf8Filter {
  /** The ids of the mask after which the text is well-formed so far. */
  filter(mask: TokenMask): TokenMask
  accept(id: number): void
}

/**
 * Creates filters for one vocabulary.
 *
 * @param tokens - by id, in stand-in characters of bytes; '' for one that adds no bytes
 * @returns creates the filter of a choice
 */
export function createUtf8Filters(tokens: readonly string[]): () => Utf8Filter {
  const bytesOf = tokens.map((token) =>
    Buffer.from(Array.from(token, (one) => BYTE_OF_CHARACTER.get(one) ?? INVALID_BYTE)),
  )
  /** By the bytes of the unfinished character, in hexadecimal. */
  const masks = new Map<string, TokenMask>()

  function maskAfter(unfinished: Buffer): TokenMask {
    const key = unfinished.toString('hex')
    const known = masks.get(key)
    if (known !== undefined) return known
    const mask = new Int32Array(Math.ceil(tokens.length / 32))
    for (const [id, bytes] of bytesOf.entries()) {
      if (splitUnfinished(Buffer.concat([unfinished, bytes])) !== null)
        mask[id >> 5] = (mask[id >> 5] ?? 0) | (1 << (id & 31))
    }
    if (masks.size < MASKS_MAX) masks.set(key, mask)
    return mask
  }

  return () => {
    let unfinished: Buffer = Buffer.alloc(0)
    return {
      filter(mask) {
        const allowed = maskAfter(unfinished)
        return mask.map((bits, at) => bits & (allowed[at] ?? 0))
      },
      accept(id) {
        const bytes = Buffer.concat([unfinished, bytesOf[id] ?? Buffer.alloc(0)])
        unfinished = splitUnfinished(bytes) ?? Buffer.alloc(0)
      },
    }
  }
}

/** The bytes of the last character as long as it is unfinished; null when the bytes are not well-formed. */
function splitUnfinished(bytes: Buffer): Buffer | null {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const text = decoder.decode(bytes, { stream: true })
    return bytes.subarray(Buffer.byteLength(text))
  } catch {
    return null
  }
}
