/**
 * The stored form of ids of calls: ids of a usual form as bytes, any other as the text itself. The forms differ in
 * length, so the text can be restored exactly. id-columns.sql.ts has the SQL of both directions.
 */

/** The value of an id's column: the text that a client sent, or its bytes. */
export type PackedId = string | Buffer

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** A span id of OpenTelemetry, and a trace id. */
const HEX_16 = /^[0-9a-f]{16}$/
const HEX_32 = /^[0-9a-f]{32}$/

/** Returns the column value: 16 bytes for a UUID, 8 for 16 hexadecimal digits, 17 for 32, or the text. */
export function packId(id: string): PackedId {
  if (id.length === 36) return UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id
  if (id.length === 32) return HEX_32.test(id) ? Buffer.from(`00${id}`, 'hex') : id
  if (id.length === 16) return HEX_16.test(id) ? Buffer.from(id, 'hex') : id
  return id
}

/** The same for an id that may be missing. */
export function packOptional(id: string | null): PackedId | null {
  return id === null ? null : packId(id)
}
