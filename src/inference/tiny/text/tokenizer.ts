/**
 * Byte-level BPE with GPT-2's rules, both ways. Plain text must never become a control token here; callers get
 * one by `controlId`.
 */

import { ModelFileError } from '../model/gguf.ts'
import type { Vocabulary } from '../model/model.ts'
import { BYTE_OF_CHARACTER, CHARACTER_OF_BYTE } from './byte-characters.ts'

/** Limit: merging is quadratic in a piece, so a longer run of letters or blanks is cut here. */
const PIECE_BYTES_MAX = 256
/** Limit: pieces that are remembered; the cache is emptied when it is full. */
const CACHE_PIECES_MAX = 10_000

const PIECES = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu

/** Text to token ids and back, for one vocabulary. */
export interface Tokenizer {
  readonly size: number
  readonly endIds: readonly number[]
  /** The token that may begin a sequence, or null. */
  readonly beginId: number | null
  /** Texts of the control tokens, longest first. */
  readonly controlTexts: readonly string[]
  /** Bytes of the longest ordinary token: a text of more than this times n bytes is over n tokens. */
  readonly tokenBytesMax: number
  /** Ids of plain text; control tokens' texts are spelt out as ordinary characters. */
  encode(text: string): number[]
  /** Id of the control token with exactly this text, or null. */
  controlId(text: string): number | null
  /** The token's own bytes; a control token's are those of its text. */
  bytesOf(id: number): Uint8Array
  isControl(id: number): boolean
}

/**
 * The tokenizer of a vocabulary.
 *
 * @throws ModelFileError when a token has a character that does not represent a byte
 */
export function createTokenizer(vocabulary: Vocabulary): Tokenizer {
  const { tokens, endIds } = vocabulary
  const control = new Set(vocabulary.controlIds)
  const bytes = tokens.map((token, id) => spellBytes(token, control.has(id)))
  const idOf = new Map<string, number>()
  const controlIdOf = new Map<string, number>()
  for (const [id, token] of tokens.entries()) (control.has(id) ? controlIdOf : idOf).set(token, id)
  const rankOf = new Map(vocabulary.merges.map((merge, rank) => [merge, rank]))
  const cache = new Map<string, readonly number[]>()
  for (const character of CHARACTER_OF_BYTE) {
    if (!idOf.has(character)) throw new ModelFileError('the vocabulary does not cover all bytes')
  }

  function encodePiece(piece: string): readonly number[] {
    const known = cache.get(piece)
    if (known !== undefined) return known
    const spelt = Array.from(
      new TextEncoder().encode(piece),
      (byte) => CHARACTER_OF_BYTE[byte] ?? '',
    )
    const ids: number[] = []
    for (let at = 0; at < spelt.length; at += PIECE_BYTES_MAX) {
      for (const part of merge(spelt.slice(at, at + PIECE_BYTES_MAX), rankOf)) {
        const id = idOf.get(part)
        // A vocabulary may lack the product of one of its merges; its bytes are always there.
        if (id !== undefined) ids.push(id)
        else for (const character of part) ids.push(idOf.get(character) ?? 0)
      }
    }
    if (cache.size >= CACHE_PIECES_MAX) cache.clear()
    if (piece.length <= PIECE_BYTES_MAX) cache.set(piece, ids)
    return ids
  }

  return {
    size: tokens.length,
    endIds,
    beginId: vocabulary.beginId,
    controlTexts: [...controlIdOf.keys()].sort((a, b) => b.length - a.length),
    tokenBytesMax: bytes.reduce((max, { length }) => Math.max(max, length), 1),
    encode(text) {
      const ids: number[] = []
      for (const [piece] of text.matchAll(PIECES)) for (const id of encodePiece(piece)) ids.push(id)
      return ids
    },
    controlId: (text) => controlIdOf.get(text) ?? null,
    bytesOf: (id) => bytes[id] ?? new Uint8Array(),
    isControl: (id) => control.has(id),
  }
}

/** Joins the pair of the lowest rank until no pair has one. */
function merge(parts: string[], rankOf: ReadonlyMap<string, number>): string[] {
  let joined = parts
  while (joined.length > 1) {
    let best = -1
    let bestRank = Number.POSITIVE_INFINITY
    for (let i = 0; i + 1 < joined.length; i++) {
      const rank = rankOf.get(`${joined[i]} ${joined[i + 1]}`)
      if (rank !== undefined && rank < bestRank) {
        best = i
        bestRank = rank
      }
    }
    if (best < 0) break
    joined = joinAll(joined, joined[best] ?? '', joined[best + 1] ?? '')
  }
  return joined
}

function joinAll(parts: readonly string[], left: string, right: string): string[] {
  const out: string[] = []
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? ''
    if (part === left && parts[i + 1] === right) {
      out.push(left + right)
      i++
    } else out.push(part)
  }
  return out
}

function spellBytes(token: string, isControl: boolean): Uint8Array {
  if (isControl) return new TextEncoder().encode(token)
  return Uint8Array.from(token, (character) => {
    const byte = BYTE_OF_CHARACTER.get(character)
    if (byte === undefined) throw new ModelFileError(`token ${token} is not spelt in bytes`)
    return byte
  })
}
