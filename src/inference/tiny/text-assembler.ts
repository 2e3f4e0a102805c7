/**
 * Puts the bytes of tokens together to text, holding back characters that are not whole yet.
 * It must never give out half a character, nor lose a byte.
 */

/** The text of one answer, as far as its bytes make whole characters. */
export interface TextAssembler {
  /** Takes the bytes of the next token; returns the characters that are now whole. */
  push(bytes: Uint8Array): string
  /** Ends the text: U+FFFD for a character that never became whole. */
  flush(): string
}

/** An empty text. Bytes that are no UTF-8 become U+FFFD. */
export function createTextAssembler(): TextAssembler {
  // Without ignoreBOM a U+FEFF at the start would be swallowed.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return {
    push: (bytes) => decoder.decode(bytes, { stream: true }),
    flush: () => decoder.decode(),
  }
}

/** The text of bytes by themselves, with U+FFFD for what is no UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
