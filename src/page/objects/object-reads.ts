/** Requests of the object views. */
import { request, requestExact, requestJson, textIn } from '../api/client.ts'
import { parseRef } from '../parts/values/refs.ts'
import type { ObjectVersion } from './kinds.ts'
import type { Row } from './row-changes.ts'

/** Limit: versions of one object that are listed. */
const VERSIONS_MAX = 10_000

/** A version with its content. */
export async function readVersion(
  project_id: string,
  object_id: string,
  digest: string,
  signal: AbortSignal,
): Promise<ObjectVersion> {
  const body = { project_id, object_id, digest, include_tags_and_aliases: true }
  return (await requestExact<{ obj: ObjectVersion }>('/obj/read', body, { signal })).obj
}

/** All versions without their contents, the newest first. */
export async function readVersions(
  project_id: string,
  object_id: string,
  signal: AbortSignal,
): Promise<readonly ObjectVersion[]> {
  const body = {
    project_id,
    filter: { object_ids: [object_id] },
    metadata_only: true,
    include_tags_and_aliases: true,
    include_storage_size: true,
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    limit: VERSIONS_MAX,
  }
  return (await requestJson<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })).objs
}

interface RowsQuestion {
  readonly offset?: number
  readonly limit?: number
  readonly sort_by?: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[]
  readonly filter?: { readonly row_digests: readonly string[] }
}

export async function readRows(
  project_id: string,
  digest: string,
  question: RowsQuestion,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const body = { project_id, digest, ...question }
  return (await requestExact<{ rows: Row[] }>('/table/query', body, { signal })).rows
}

export async function countRows(
  project_id: string,
  digest: string,
  signal: AbortSignal,
): Promise<number> {
  const body = { project_id, digest }
  return (await requestJson<{ count: number }>('/table/query_stats', body, { signal })).count
}

/** The text of a file. */
export async function readText(
  project_id: string,
  digest: string,
  signal: AbortSignal,
): Promise<string> {
  return textIn(await request('/file/content', { project_id, digest }, { signal }))
}

/** Returns the table with the rows of a dataset; null for other contents. */
export function tableOf(val: unknown): string | null {
  const ref = parseRef((val as { rows?: unknown } | null)?.rows)
  return ref?.kind === 'table' ? ref.name : null
}

/** Returns the file with the source of an op or a class; null when the content names none. */
export function sourceOf(val: unknown): string | null {
  const files = (val as { files?: unknown } | null)?.files
  const digest = (files as Record<string, unknown> | null | undefined)?.['obj.py']
  return typeof digest === 'string' ? digest : null
}
