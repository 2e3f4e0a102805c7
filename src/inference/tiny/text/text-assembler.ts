/**
 * Joins tokens to text and holds back incomplete characters. It must never return half a character, nor lose a byte.
 */
import type { Tokenizer } from './tokenizer.ts'

/** The text of one answer, as far as its bytes make whole characters. */
interface TextAssembler {
  /** Takes the next token; returns the characters that are now whole. */
  push(id: number): string
  /** Ends the text: U+FFFD for a character that never became whole. */
  flush(): string
}

/** How special tokens are shown. */
export interface SpecialTokens {
  readonly areSkipped: boolean
  /** Whether special tokens are separated from their neighbours by a space. */
  readonly areSpaced: boolean
}

/**
 * An empty text. Bytes that are no UTF-8 become U+FFFD.
 *
 * Spec: §4.3 skip_special_tokens, spaces_between_special_tokens.
 * Choice: spaces stand around each shown special token, not at the text's ends, as slow tokenizers do.
 */
export function createTextAssembler(tokenizer: Tokenizer, special: SpecialTokens): TextAssembler {
  // Without ignoreBOM a U+FEFF at the start would be swallowed.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let isEmpty = true
  let isBehindSpecial = false
  return {
    push(id) {
      const isSpecial = tokenizer.isControl(id)
      if (isSpecial && special.areSkipped) return ''
      const isApart = special.areSpaced && !isEmpty && (isSpecial || isBehindSpecial)
      // A character cannot continue after a special token.
      const rest = isSpecial ? decoder.decode() : ''
      isEmpty = false
      isBehindSpecial = isSpecial
      return rest + (isApart ? ' ' : '') + decoder.decode(tokenizer.bytesOf(id), { stream: true })
    },
    flush: () => decoder.decode(),
  }
}

/** Decodes whole texts only, so it has no state between them and can be shared: making one takes longer than a token. */
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

/** The text of bytes by themselves, with U+FFFD for bytes that are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  return DECODER.decode(bytes)
}
