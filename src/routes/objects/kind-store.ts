/** Stores and reads the parts of objects for the routes by kind: source, rows, versions. */
import { buffer } from 'node:stream/consumers'
import { parseExact } from '../../domain/json/json-text.ts'
import { objectOrEmpty } from '../../domain/json/json-values.ts'
import {
  type KindVersion,
  newObjectOf,
  opContent,
  sourceDigestOf,
} from '../../domain/objects/object-kinds.ts'
import type { ObjectVersion } from '../../domain/objects/object-view.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import { SOURCE_CHARACTERS_MAX } from '../../schemas/objects/object-kinds.ts'
import type { FileStore } from '../../store/api/objects/tables.ts'
import type { Stores } from '../../store/api/stores.ts'
import { digestRows, storeTable } from './table-rows.ts'

/** Limit: bytes of a source that is read: four for each character that may be written. */
const SOURCE_BYTES_MAX = 4 * SOURCE_CHARACTERS_MAX

export interface KindStoreOptions
  extends Pick<Stores, 'audit' | 'objects' | 'tables' | 'files'>,
    Pick<Clock, 'nowUs'> {
  /** Scheme of the refs inside contents. */
  readonly refScheme: string
}

/** Returns a writer for one project on behalf of a user. */
export function createKindWriter(
  { objects, tables, files, refScheme, nowUs }: KindStoreOptions,
  { project_id, svc_user_id }: { readonly project_id: string; readonly svc_user_id: string },
) {
  async function storeSource(text: string): Promise<string> {
    async function* bytes(): AsyncGenerator<Buffer> {
      yield Buffer.from(text)
    }
    const file = await files.receiveFile(bytes())
    try {
      await file.keep(project_id)
      return file.digest
    } finally {
      await file.discard()
    }
  }

  async function publish(object_id: string, val: object): Promise<ObjectVersion> {
    const named = { project_id, object_id, svc_user_id, created_at_us: nowUs() }
    const object = newObjectOf(val, named)
    await objects.createObject(object)
    const made = await objects.findObject(project_id, object_id, object.digest, false)
    // The version may have been deleted since.
    if (made === null) throw new ApiError('object_not_found', { param: 'digest' })
    return made
  }

  return {
    storeSource,
    publish,
    publishOp: async (object_id: string, source: string) =>
      publish(object_id, opContent(await storeSource(source))),
    /** @param text - JSON of the list of rows, as it was sent */
    async storeRows(text: string): Promise<string> {
      const { digest } = await storeTable(tables, project_id, await digestRows(text))
      return `${refScheme}:///${project_id}/table/${digest}`
    },
    refTo: ({ kind, object_id, digest }: ObjectVersion): string =>
      `${refScheme}:///${project_id}/${kind}/${object_id}:${digest}`,
  }
}

export type KindWriter = ReturnType<typeof createKindWriter>

/**
 * Returns a version with its source; one that is not stored is empty.
 *
 * @throws ApiError validation_failed for a longer one, file_not_found for one that is gone from the disk
 */
export async function readKindVersion(
  files: FileStore,
  version: ObjectVersion,
  val_json: string | null,
): Promise<KindVersion> {
  const val = parseExact(val_json ?? 'null')
  const digest = sourceDigestOf(val)
  const source = digest === null ? '' : await readSource(files, version.project_id, digest)
  return { version, val: objectOrEmpty(val), source }
}

/**
 * Returns a version of a list with its source; a source that cannot be read is empty, so that the list does not end
 * there.
 */
export async function readListedVersion(
  files: FileStore,
  version: ObjectVersion,
  val_json: string | null,
): Promise<KindVersion> {
  try {
    return await readKindVersion(files, version, val_json)
  } catch (error) {
    const isOfSource = error instanceof ApiError && SOURCE_ERRORS.has(error.code)
    if (!isOfSource) throw error
    return { version, val: objectOrEmpty(parseExact(val_json ?? 'null')), source: '' }
  }
}

const SOURCE_ERRORS: ReadonlySet<string> = new Set(['validation_failed', 'file_not_found'])

async function readSource(files: FileStore, projectId: string, digest: string): Promise<string> {
  const file = await files.findFile(projectId, digest)
  if (file === null) return ''
  const { content, size_bytes } = file
  if (size_bytes <= SOURCE_BYTES_MAX) {
    return (Buffer.isBuffer(content) ? content : await buffer(content)).toString()
  }
  if (!Buffer.isBuffer(content)) content.destroy()
  const message = `The source ${digest} has more than ${SOURCE_BYTES_MAX} bytes: read it with /file/content.`
  throw new ApiError('validation_failed', { message, param: 'digest' })
}
