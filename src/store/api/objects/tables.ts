/** The contracts of the stores of tables and of files. Tables never change, so that reads of one fit together. */
import type { Readable } from 'node:stream'
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { ByteRange } from '../../../domain/objects/byte-range.ts'
import type { TableQueryRequest } from '../../../schemas/objects/table.ts'

export interface StoredTable {
  /** The store's own key. */
  readonly table_key: number
  readonly project_id: string
  readonly digest: string
  readonly row_count: number
  /** Bytes of the rows. */
  readonly storage_size_bytes: number
}

/** A row's content, once per project. */
export interface NewRow {
  readonly digest: string
  readonly val_json: string
}

export interface TableRow extends NewRow {
  /** Position in the table, from 0. */
  readonly original_index: number
}

/** Which rows a table has, without their contents. */
export interface RowIndex {
  /** The row of a digest; null when the table has none. */
  findRow(digest: string): Promise<NewRow | null>
}

export type TableSort = NonNullable<TableQueryRequest['sort_by']>

export interface TableStore {
  /**
   * Stores rows, those that the project has not yet. Resolves only after they are durable.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  insertRows(projectId: string, rows: readonly NewRow[]): Promise<void>
  /**
   * Stores a table of rows that are stored. Resolves only after it is durable. The same table again changes
   * nothing.
   *
   * @throws ApiError validation_failed, param `row_digests[3]`, when the project has no such row;
   * server_overloaded, store_unavailable
   */
  createTable(projectId: string, digest: string, rowDigests: readonly string[]): Promise<void>
  /** The table, or null when the project has none of the digest. */
  findTable(projectId: string, digest: string): Promise<StoredTable | null>
  /** Digests of all rows, in order. The caller may change the list. */
  listRowDigests(table: StoredTable): Promise<string[]>
  /** Makes many look-ups by digest cheap, at the cost of one walk over the table. */
  indexRows(table: StoredTable): Promise<RowIndex>
  /** Places of the rows with one of the digests, ascending; a row that comes twice has two. */
  findIndexes(table: StoredTable, rowDigests: readonly string[]): Promise<number[]>
  /**
   * Places of all rows, sorted by fields inside them. Numbers come before texts, texts before the rest, rows
   * without the field last in both directions; equals keep their order.
   *
   * @param caller - who waits
   * @throws ApiError server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  sortIndexes(table: StoredTable, sort: TableSort, caller: ReadCaller): Promise<Uint32Array>
  /** The rows at places, in the order given, in groups of bounded size. Lets others work between groups. */
  readRows(table: StoredTable, places: Iterable<number>): AsyncIterable<TableRow[]>
}

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
  /** Of all bytes. */
  readonly size_bytes: number
  /** Which bytes are read; null: all. */
  readonly range: ByteRange | null
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
   * @param rangeOf - which bytes are read of a file of a size; null: all
   * @throws ApiError store_unavailable; file_not_found when its bytes are gone from the disk; what `rangeOf` throws
   */
  findFile(
    projectId: string,
    digest: string,
    rangeOf?: (size_bytes: number) => ByteRange | null,
  ): Promise<StoredFile | null>
  /** Bytes of all files of a project. */
  sumFileBytes(projectId: string): Promise<number>
}
