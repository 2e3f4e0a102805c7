/** Compresses long bodies of calls for their columns, and decompresses them. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type Database from 'better-sqlite3'
import { PREVIEWED_BYTES_MAX } from '../../../domain/calls/body-preview.ts'
import { runWhole } from '../../../threads/whole-work.ts'

/**
 * Texts of at least this many bytes are compressed. Measured on prose in JSON: 1 KB takes 35 us and saves half a
 * KB; 20 KB take 110 us and save 14 KB.
 */
const PACKED_FROM_BYTES = 4096
/** The most bytes that a UTF-16 code unit takes in UTF-8. */
const UNIT_BYTES_MAX = 3
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Returns the values of the two columns of each text, in order: text and null, null and its bytes, or two nulls. */
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

/**
 * Adds the SQL functions `unzstd(blob)`, which returns the text of a compressed body, and null for null; and
 * `unzstd_short(blob)`, which returns null also for a text of more than PREVIEWED_BYTES_MAX.
 */
export function addBodyFunctions(db: Database.Database): void {
  db.function('unzstd', { deterministic: true }, (packed: unknown) =>
    packed === null ? null : runWhole(() => zstdDecompressSync(packed as Buffer)).toString(),
  )
  db.function('unzstd_short', { deterministic: true }, (packed: unknown) =>
    packed === null ? null : runWhole(() => unpackShort(packed as Buffer)),
  )
}

function unpackShort(packed: Buffer): string | null {
  try {
    return zstdDecompressSync(packed, { maxOutputLength: PREVIEWED_BYTES_MAX }).toString()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null
    throw error
  }
}
