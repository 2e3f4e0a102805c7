/**
 * Ids of calls as they lie in their columns: those of a usual form as their bytes, any other as the text itself. Each form
 * has a length of its own, so that the text comes back exactly; the SQL of both ways is in id-columns.sql.ts.
 */

/** What a client sends as an id, and what lies in the column. */
export type PackedId = string | Buffer

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** A span of OpenTelemetry, and a trace. */
const HEX_16 = /^[0-9a-f]{16}$/
const HEX_32 = /^[0-9a-f]{32}$/

/** The value of the column of an id: 16 bytes of a UUID, 8 of 16 hexadecimal digits, 17 of 32, or the text. */
export function packId(id: string): PackedId {
  if (id.length === 36) return UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id
  if (id.length === 32) return HEX_32.test(id) ? Buffer.from(`00${id}`, 'hex') : id
  if (id.length === 16) return HEX_16.test(id) ? Buffer.from(id, 'hex') : id
  return id
}

/** The same of an id that may be missing. */
export function packOptional(id: string | null): PackedId | null {
  return id === null ? null : packId(id)
}
