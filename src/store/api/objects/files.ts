/** The contract of the store of files. */
import type { Readable } from 'node:stream'

/** Bytes that have been received and belong to no project yet. */
export interface ReceivedFile {
  /** Digest as clients compute it. */
  readonly digest: string
  readonly size_bytes: number
  /**
   * Gives the bytes to a project, once. Resolves only after they are durable. Equal content is stored once
   * per project; another project's is never looked at. Bytes that are gone from the disk are put back.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  keep(projectId: string): Promise<void>
  /** Forgets the bytes; nothing happens to a kept file, or the second time. Never fails. */
  discard(): Promise<void>
}

export interface StoredFile {
  readonly size_bytes: number
  /** The bytes; a stream when there are many. The caller reads or destroys it. */
  readonly content: Buffer | Readable
}

export interface FileStore {
  /**
   * Takes bytes in, with flat memory. What the source throws comes through; then nothing is left.
   *
   * @throws ApiError store_unavailable
   */
  receiveFile(source: AsyncIterable<Buffer>): Promise<ReceivedFile>
  /**
   * The file, or null when the project has none of the digest.
   *
   * @throws ApiError store_unavailable; file_not_found when its bytes are gone from the disk
   */
  findFile(projectId: string, digest: string): Promise<StoredFile | null>
  /** Bytes of all files of a project. */
  sumFileBytes(projectId: string): Promise<number>
}
