/**
 * Reads the published objects of W&B Weave or of another Weft, with the tables and files that they name.
 *
 * Spec: none, an addition. Choice: refs to the source project lead to the imported one. A content in which a ref changes has
 * another digest; the old digest is an alias of its version, so that refs to it lead there.
 */
import { parseExact } from '../domain/json/json-text.ts'
import { isGiven, objectOrEmpty, textOrEmpty, textOrNull } from '../domain/json/json-values.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import { type ApiClient, type Json, objectsOf, parseJson } from './api-client.ts'
import {
  ImportError,
  type ImportedFile,
  type ImportedObject,
  type ImportedTable,
  type ImportPage,
  type ImportTarget,
} from './source.ts'

const PAGE_OBJECTS = 100
const PAGE_ROWS = 500
/** A file of a custom value, in which `files` has digests by name. */
const FILE_MAPS = /"files":\s*(\{[^{}]*\})/g
const CUSTOM_VALUE = '"CustomWeaveType"'
const NOT_FOUND = 404

export interface WeaveProject {
  readonly api: ApiClient
  /** `<entity>/<project>` in the source. */
  readonly project_id: string
}

/** Rewrites the refs of a JSON text that lead to the source project, so that they lead to the imported one. */
export function moveRefs(
  json: string,
  from: string,
  { project_id, refScheme }: ImportTarget,
): string {
  const [before, after] = [`"weave:///${from}/`, `"${refScheme}:///${project_id}/`]
  return before === after ? json : json.replaceAll(before, after)
}

/** The files that custom values in JSON texts name, each once. */
export function filesOf(
  texts: readonly string[],
  { api, project_id }: WeaveProject,
): ImportedFile[] {
  const digests = new Set<string>()
  for (const text of texts) {
    if (!text.includes(CUSTOM_VALUE)) continue
    for (const [, map = ''] of text.matchAll(FILE_MAPS)) {
      for (const digest of Object.values(objectOrEmpty(parseJson(map, 'a map of files')))) {
        if (typeof digest === 'string') digests.add(digest)
      }
    }
  }
  return [...digests].map((digest) => ({
    digest,
    read: () => orNull(api.postForBytes('/file/content', { project_id, digest })),
  }))
}

/** Returns null for a response 404. @throws ImportError for any other failure */
async function orNull<Found>(found: Promise<Found>): Promise<Found | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof ImportError && error.status === NOT_FOUND) return null
    throw error
  }
}

/** All versions that are not deleted, in the order of their creation. A cursor is the number of those before the next page. */
export async function* readObjects(
  source: WeaveProject,
  target: ImportTarget,
  after: string | null,
): AsyncGenerator<ImportPage> {
  const { api, project_id } = source
  for (let offset = Number(after ?? 0); ; offset += PAGE_OBJECTS) {
    const { objs } = await api.post('/objs/query', {
      project_id,
      limit: PAGE_OBJECTS,
      offset,
      sort_by: ['created_at', 'object_id'].map((field) => ({ field, direction: 'asc' })),
      metadata_only: true,
      include_tags_and_aliases: true,
    })
    const listed = objectsOf(objs)
    const isLast = listed.length < PAGE_OBJECTS
    for (const version of listed) {
      const page = await readVersion(source, target, version)
      // The page ends with the last of its versions: each may be large.
      yield { ...page, cursor: after }
    }
    after = isLast ? '' : String(offset + PAGE_OBJECTS)
    yield { cursor: after }
    if (isLast) return
  }
}

/** A version with its content, and what that names. */
async function readVersion(
  source: WeaveProject,
  target: ImportTarget,
  version: Json,
): Promise<Omit<ImportPage, 'cursor'>> {
  const { api, project_id } = source
  const { object_id, digest, created_at, tags, aliases } = version
  const asked = { project_id, object_id, digest }
  const text = await orNull(api.postForText('/obj/read', asked))
  if (text === null) return { left: { 'objects that were deleted meanwhile': 1 } }
  const moved = moveRefs(text, project_id, target)
  const { obj } = objectOrEmpty(parseJson(moved, '/obj/read', parseExact))
  const { val } = objectOrEmpty(obj)
  const object: ImportedObject = {
    name: textOrEmpty(object_id),
    val: (val ?? null) as object,
    created_at_us: parseTimestampUs(textOrEmpty(created_at)),
    tags: textsOf(tags),
    aliases: textsOf(aliases),
    sourceDigest: textOrNull(digest) ?? undefined,
  }
  return { files: filesOf([text], source), tables: tablesOf(text, source), objects: [object] }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(isGiven).map(String) : []
}

/** The tables that refs in a text lead to. */
function tablesOf(text: string, source: WeaveProject): ImportedTable[] {
  const start = `"weave:///${source.project_id}/table/`
  const found = text.split(start).slice(1)
  const digests = new Set(found.map((rest) => /^\w+/.exec(rest)?.[0] ?? ''))
  return [...digests].map((digest) => ({ digest, rows: readRows(source, digest) }))
}

/** Rows as they are: a table is found by the digests of its rows. */
async function* readRows(
  { api, project_id }: WeaveProject,
  digest: string,
): AsyncGenerator<object> {
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const body = { project_id, digest, limit: PAGE_ROWS, offset }
    const text = await orNull(api.postForText('/table/query', body))
    if (text === null) return
    const { rows } = objectOrEmpty(parseJson(text, '/table/query', parseExact))
    const page = objectsOf(rows)
    for (const { val } of page) yield (val ?? null) as object
    if (page.length < PAGE_ROWS) return
  }
}
