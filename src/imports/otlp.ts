/**
 * Reads files of OTLP traces as the file exporter of the OpenTelemetry Collector writes them: a request in JSON a line, or
 * requests in protobuf or JSON that each follow their length in 4 bytes, big endian; these may be compressed by zstd.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { callRef } from '../domain/calls/call-ref.ts'
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import type { OtlpEncoding } from '../domain/otel/otlp-fields.ts'
import { ApiError } from '../errors.ts'
import { readTraceRequest } from '../otel/read-request.ts'
import { TOO_LARGE, tryFeedback } from './scores.ts'
import {
  createLeftCounts,
  IMPORT_USER,
  ImportError,
  type ImportPage,
  type ImportSource,
  type SourceOptions,
} from './source.ts'

const CHUNK_BYTES = 1024 * 1024
const LENGTH_BYTES = 4
const LINE_FEED = 10
const BRACE = 123
const ZSTD_MAGIC = 0x28b52ffd
const NO_LIMITS = { partsMax: Number.POSITIVE_INFINITY, valuesMax: Number.POSITIVE_INFINITY }

export function openOtlpFiles(options: SourceOptions): ImportSource {
  const paths = listFiles(options.location)
  return {
    stages: [{ name: 'traces', pages: (after) => readFiles(paths, options, after) }],
    unread: ['metrics', 'logs'],
  }
}

/** The file, or all files of the folder by name, as a rotation leaves them. @throws ImportError */
function listFiles(location: string): string[] {
  try {
    if (!statSync(location).isDirectory()) return [location]
    const names = readdirSync(location, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
    if (names.length === 0) throw new ImportError(`${location} has no files`)
    return names.sort().map((name) => join(location, name))
  } catch (error) {
    if (error instanceof ImportError) throw error
    throw new ImportError(`${location} cannot be read: ${(error as Error).message}`)
  }
}

/**
 * A cursor is a position in a file, as `<bytes> <file>`. A file is known by its inode, since a rotation renames it and begins
 * another under its name; when it is gone, all files are read again.
 */
async function* readFiles(
  paths: readonly string[],
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  const [position, known] = (after ?? '').split(' ')
  const found = paths.findIndex((path) => identify(path) === known)
  for (const [at, path] of paths.slice(Math.max(0, found)).entries()) {
    const from = at === 0 && found >= 0 ? Number(position) : 0
    const file = identify(path)
    for (const { bytes, end, number } of readMessages(path, from, options.messageBytesMax)) {
      yield {
        ...readMessage(bytes, `${path}, message ${number}`, options),
        cursor: `${end} ${file}`,
      }
    }
  }
}

/** An inode is given to another file after a deletion, but not with the same time of birth. */
function identify(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true })
  return `${ino}-${birthtimeNs}`
}

interface Message {
  readonly bytes: Buffer
  /** Where the next one begins. */
  readonly end: number
  /** From 1, since the read began. */
  readonly number: number
}

/** One message is in memory at a time. @throws ImportError */
function* readMessages(path: string, from: number, bytesMax: number): Generator<Message> {
  const file = openSync(path, 'r')
  try {
    const head = readAt(file, 0, 1)
    const isLines = head[0] === BRACE
    let [position, number] = [from, 0]
    for (;;) {
      const found = isLines
        ? readLine(file, position, bytesMax)
        : readPrefixed(file, position, bytesMax)
      number += 1
      if (found === null) return
      if (found === 'wrong') {
        throw new ImportError(
          `${path} at byte ${position} is no message of at most ${bytesMax} bytes: lines of JSON or messages that follow their length in 4 bytes are read, as the Collector's file exporter writes them`,
        )
      }
      position = found.end
      if (found.bytes.length > 0) yield { ...found, number }
    }
  } finally {
    closeSync(file)
  }
}

type Found = { readonly bytes: Buffer; readonly end: number } | 'wrong' | null

function readLine(file: number, position: number, bytesMax: number): Found {
  const chunks: Buffer[] = []
  for (let size = 0; size <= bytesMax; ) {
    const chunk = readAt(file, position + size, CHUNK_BYTES)
    const end = chunk.indexOf(LINE_FEED)
    if (chunk.length === 0) {
      return size === 0 ? null : { bytes: Buffer.concat(chunks), end: position + size }
    }
    chunks.push(end === -1 ? chunk : chunk.subarray(0, end))
    size += end === -1 ? chunk.length : end + 1
    if (end !== -1) return { bytes: Buffer.concat(chunks), end: position + size }
  }
  return 'wrong'
}

function readPrefixed(file: number, position: number, bytesMax: number): Found {
  const prefix = readAt(file, position, LENGTH_BYTES)
  if (prefix.length === 0) return null
  if (prefix.length < LENGTH_BYTES) return 'wrong'
  const length = prefix.readUInt32BE()
  if (length > bytesMax) return 'wrong'
  const bytes = readAt(file, position + LENGTH_BYTES, length)
  return bytes.length < length ? 'wrong' : { bytes, end: position + LENGTH_BYTES + length }
}

function readAt(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  let size = 0
  while (size < length) {
    const read = readSync(file, buffer, size, length - size, position + size)
    if (read === 0) break
    size += read
  }
  return buffer.subarray(0, size)
}

/** @throws ImportError */
function readMessage(
  sent: Buffer,
  origin: string,
  options: SourceOptions,
): Omit<ImportPage, 'cursor'> {
  const { project_id, refScheme, messageBytesMax } = options
  const left = createLeftCounts()
  try {
    const bytes = decompress(sent, messageBytesMax)
    const encoding: OtlpEncoding = bytes[0] === BRACE ? 'json' : 'protobuf'
    const request = {
      encoding,
      bytes,
      project_id,
      default_project_id: null,
      refScheme,
      ...IMPORT_USER,
    }
    const read = readTraceRequest(request, NO_LIMITS)
    if (read.rejected > 0) left.add(`spans: ${read.message}`, read.rejected)
    else if (read.message !== null) left.add(`messages without spans: ${read.message}`)
    const feedback: Feedback[] = []
    const startOf = new Map(
      read.calls.map(({ start }) => [
        callRef(refScheme, project_id, start?.id ?? ''),
        start?.started_at_us,
      ]),
    )
    for (const item of read.feedback) {
      const created_at_us = startOf.get(item.weave_ref) ?? 0
      const one = tryFeedback(item, { id: item.id, created_at_us }, options)
      if (one === null) left.add(TOO_LARGE)
      else feedback.push(one)
    }
    return { calls: read.calls, runs: read.runs, feedback, left: left.counts }
  } catch (error) {
    if (error instanceof ApiError) throw new ImportError(`${origin}: ${error.message}`)
    throw error
  }
}

/** @throws ApiError invalid_otlp */
function decompress(bytes: Buffer, bytesMax: number): Buffer {
  if (bytes.length < LENGTH_BYTES || bytes.readUInt32BE() !== ZSTD_MAGIC) return bytes
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: bytesMax })
  } catch (cause) {
    const message = `cannot be decompressed to at most ${bytesMax} bytes`
    throw new ApiError('invalid_otlp', { message, cause })
  }
}
