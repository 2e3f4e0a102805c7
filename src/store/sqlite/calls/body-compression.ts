/** Bodies of calls on their way into their columns and back: long texts are compressed. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import { runWhole } from '../db/whole-work.ts'

/**
 * Bytes from which on a text is compressed. Measured on prose in JSON: 1 KB takes 35 us and saves half a
 * KB; 20 KB take 110 us and save 14 KB.
 */
const PACKED_FROM_BYTES = 4096
/** Bytes that a UTF-16 unit takes at most in UTF-8. */
const UNIT_BYTES_MAX = 3
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** The values of the two columns of each text, in their order: the text and null, null and its bytes, or nulls. */
export function packBodies(...texts: readonly (string | null)[]): (string | Buffer | null)[] {
  const values: (string | Buffer | null)[] = []
  for (const text of texts) {
    if (text !== null && isLong(text)) values.push(null, pack(text))
    else values.push(text, null)
  }
  return values
}

function pack(text: string): Buffer {
  return runWhole(() => zstdCompressSync(text, OPTIONS))
}

function isLong(text: string): boolean {
  if (text.length * UNIT_BYTES_MAX < PACKED_FROM_BYTES) return false
  return text.length >= PACKED_FROM_BYTES || Buffer.byteLength(text) >= PACKED_FROM_BYTES
}

/** Adds the function `unzstd(blob)` of SQL: the text of what was packed, null for null. */
export function addBodyFunctions(db: Database.Database): void {
  db.function('unzstd', { deterministic: true }, (packed: unknown) =>
    packed === null ? null : runWhole(() => zstdDecompressSync(packed as Buffer)).toString(),
  )
}
