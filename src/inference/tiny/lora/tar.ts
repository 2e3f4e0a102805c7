/**
 * A small tar archive (ustar) of a few plain files, read from and written to memory. The same files give
 * the same bytes. It must not trust a size in the archive.
 */
import { AdapterFileError } from './adapter.ts'

const BLOCK_BYTES = 512
/** Limit: an adapter's archive has three files. */
const FILES_MAX = 64
const NAME_BYTES_MAX = 100
const SIZE_AT = 124
const SIZE_DIGITS = 11
const CHECKSUM_AT = 148
const CHECKSUM_BYTES = 8
const TYPE_AT = 156
const REGULAR_FILE = '0'

/**
 * The plain files of an archive by name, as views of its bytes. Other entries are left out.
 *
 * @throws AdapterFileError when it is damaged or holds more files than an adapter's has
 */
export function readTar(bytes: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at + BLOCK_BYTES <= bytes.length; ) {
    const header = bytes.subarray(at, at + BLOCK_BYTES)
    if (header.every((byte) => byte === 0)) break
    if (readOctal(header, CHECKSUM_AT, CHECKSUM_BYTES) !== checksumOf(header)) {
      throw new AdapterFileError('the archive is damaged')
    }
    const size = readOctal(header, SIZE_AT, SIZE_DIGITS)
    const from = at + BLOCK_BYTES
    if (from + size > bytes.length) throw new AdapterFileError('the archive ends inside of a file')
    const type = String.fromCharCode(header[TYPE_AT] ?? 0)
    if (type === REGULAR_FILE || type === '\0') {
      files.set(readText(header, 0, NAME_BYTES_MAX), bytes.subarray(from, from + size))
    }
    if (files.size > FILES_MAX) throw new AdapterFileError('the archive has too many files')
    at = from + padded(size)
  }
  return files
}

/**
 * An archive of the files in their order, all with mode 0644 and time 0.
 *
 * @param files - names of 1 to 100 ASCII characters
 */
export function writeTar(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const sizes = [...files.values()].map(({ length }) => BLOCK_BYTES + padded(length))
  // Two empty blocks end an archive.
  const out = new Uint8Array(sizes.reduce((sum, size) => sum + size, 2 * BLOCK_BYTES))
  let at = 0
  for (const [name, content] of files) {
    out.set(writeHeader(name, content.length), at)
    out.set(content, at + BLOCK_BYTES)
    at += BLOCK_BYTES + padded(content.length)
  }
  return out
}

function writeHeader(name: string, size: number): Uint8Array {
  const header = new Uint8Array(BLOCK_BYTES)
  const put = (at: number, text: string): void => header.set(new TextEncoder().encode(text), at)
  const octal = (value: number): string => value.toString(8).padStart(SIZE_DIGITS, '0')
  put(0, name)
  put(100, '0000644\0')
  put(108, '0000000\0')
  put(116, '0000000\0')
  put(SIZE_AT, `${octal(size)}\0`)
  put(136, `${octal(0)}\0`)
  put(TYPE_AT, REGULAR_FILE)
  put(257, 'ustar\x0000')
  put(CHECKSUM_AT, `${checksumOf(header).toString(8).padStart(6, '0')}\0 `)
  return header
}

/** The sum of a header's bytes, those of the checksum itself counted as blanks. */
function checksumOf(header: Uint8Array): number {
  return header.reduce((sum, byte, at) => {
    const isOwn = at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES
    return sum + (isOwn ? 0x20 : byte)
  }, 0)
}

function readOctal(header: Uint8Array, at: number, bytes: number): number {
  const text = readText(header, at, bytes).trim()
  if (!/^[0-7]+$/.test(text)) throw new AdapterFileError('the archive is damaged')
  return Number.parseInt(text, 8)
}

function readText(header: Uint8Array, at: number, bytes: number): string {
  const field = header.subarray(at, at + bytes)
  const end = field.indexOf(0)
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end))
}

function padded(size: number): number {
  return Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
}
