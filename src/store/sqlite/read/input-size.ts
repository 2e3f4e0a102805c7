/** Estimates how much memory the input of a waiting job takes. */

/** Bytes of a value besides its characters or bytes. */
const VALUE_BYTES = 16
const CHARACTER_BYTES = 2

/** @param input - a cloneable value, as deep as a validated request. @returns bytes */
export function measureInput(input: unknown): number {
  if (typeof input === 'string') return VALUE_BYTES + input.length * CHARACTER_BYTES
  if (typeof input !== 'object' || input === null) return VALUE_BYTES
  if (ArrayBuffer.isView(input)) return VALUE_BYTES + input.byteLength
  const members: readonly unknown[] = Array.isArray(input) ? input : Object.values(input)
  return members.reduce((bytes: number, member) => bytes + measureInput(member), VALUE_BYTES)
}
