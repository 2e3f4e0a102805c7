/**
 * Keeps constrained answers well-formed UTF-8. For a character beyond ASCII the grammar engine accepts any bytes of the
 * right count, surrogates and overlong forms included. Each of these bytes would be decoded to a U+FFFD of its own, and
 * a text would grow longer than its schema allows. Pure.
 */
import type { TokenMask } from '../sampling/vocabulary-limits.ts'
import { BYTE_OF_CHARACTER } from '../text/byte-characters.ts'

/** What may come inside a character: the range of the next byte, and the state behind it. */
interface Within {
  readonly from: number
  readonly to: number
  readonly next: number
}

const BETWEEN_CHARACTERS = 0
const ILL_FORMED = -1
const FIRST_WIDE = 0x80
/** By state; the ranges are those of Unicode's table of well-formed byte sequences. */
const WITHIN: readonly (Within | null)[] = [
  null,
  { from: 0x80, to: 0xbf, next: BETWEEN_CHARACTERS },
  { from: 0x80, to: 0xbf, next: 1 },
  { from: 0x80, to: 0xbf, next: 2 },
  { from: 0xa0, to: 0xbf, next: 1 },
  { from: 0x80, to: 0x9f, next: 1 },
  { from: 0x90, to: 0xbf, next: 2 },
  { from: 0x80, to: 0x8f, next: 2 },
]
/** The state behind the first byte of a wide character; the first range that holds it counts. */
const LEADS: readonly Within[] = [
  { from: 0xc2, to: 0xdf, next: 1 },
  { from: 0xe0, to: 0xe0, next: 4 },
  { from: 0xed, to: 0xed, next: 5 },
  { from: 0xe1, to: 0xef, next: 2 },
  { from: 0xf0, to: 0xf0, next: 6 },
  { from: 0xf1, to: 0xf3, next: 3 },
  { from: 0xf4, to: 0xf4, next: 7 },
]

/** The bytes of one answer. */
export interface Utf8Answer {
  /** The ids of the mask that leave the answer well-formed so far. */
  filter(mask: TokenMask): TokenMask
  accept(id: number): void
}

/**
 * A filter for the answers of one vocabulary.
 *
 * @param tokens - by id, in stand-in characters of bytes; '' for one that adds no bytes
 * @returns begins an answer
 */
export function createUtf8Filter(tokens: readonly string[]): () => Utf8Answer {
  /** By state, made when it first comes up. */
  const masks = new Map<number, TokenMask>()

  function maskOf(state: number): TokenMask {
    const known = masks.get(state)
    if (known !== undefined) return known
    const mask = new Int32Array(Math.ceil(tokens.length / 32))
    for (const [id, token] of tokens.entries()) {
      if (follow(state, token) !== ILL_FORMED)
        mask[id >> 5] = (mask[id >> 5] ?? 0) | (1 << (id & 31))
    }
    masks.set(state, mask)
    return mask
  }

  return () => {
    let state = BETWEEN_CHARACTERS
    return {
      filter(mask) {
        const allowed = maskOf(state)
        return mask.map((bits, at) => bits & (allowed[at] ?? 0))
      },
      accept(id) {
        state = follow(state, tokens[id] ?? '')
      },
    }
  }
}

/** The state behind a token. */
function follow(state: number, token: string): number {
  let at = state
  for (const character of token) {
    at = step(at, BYTE_OF_CHARACTER.get(character) ?? ILL_FORMED)
    if (at === ILL_FORMED) break
  }
  return at
}

function step(state: number, byte: number): number {
  const within = WITHIN[state]
  if (within) return holds(within, byte) ? within.next : ILL_FORMED
  if (byte >= 0 && byte < FIRST_WIDE) return BETWEEN_CHARACTERS
  return LEADS.find((lead) => holds(lead, byte))?.next ?? ILL_FORMED
}

function holds({ from, to }: Within, byte: number): boolean {
  return from <= byte && byte <= to
}
