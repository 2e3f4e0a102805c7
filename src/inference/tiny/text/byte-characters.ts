/**
 * GPT-2's table of printable characters that stand for bytes. The tokens of a vocabulary are spelled in them; they must
 * never reach a client.
 */

/** The stand-in character of each byte, by byte. */
export const CHARACTER_OF_BYTE: readonly string[] = makeTable()

/** The byte of each stand-in character. */
export const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  CHARACTER_OF_BYTE.map((character, byte) => [character, byte]),
)

function makeTable(): string[] {
  const table: string[] = []
  let spare = 256
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    table.push(String.fromCodePoint(isPrintable ? byte : spare++))
  }
  return table
}
