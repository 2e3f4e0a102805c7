/** The functions of SQL that pack and unpack bodies of calls, for every connection. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type Database from 'better-sqlite3'

const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Adds `zstd(text)` and `unzstd(blob)`; both give null for null, and one undoes the other exactly. */
export function addBodyFunctions(db: Database.Database): void {
  db.function('zstd', { deterministic: true }, (text: unknown) =>
    text === null ? null : zstdCompressSync(Buffer.from(text as string), OPTIONS),
  )
  db.function('unzstd', { deterministic: true }, (packed: unknown) =>
    packed === null ? null : zstdDecompressSync(packed as Buffer).toString(),
  )
}
