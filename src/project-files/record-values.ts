/** Checked records as what the stores take. Pure. */
import type { CallTexts } from '../domain/calls/call-view.ts'
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import { digestOfJson } from '../domain/objects/digests.ts'
import type { NewObject } from '../domain/objects/object-content.ts'
import type { NewRow } from '../store/api/objects/tables.ts'
import { ExportFolderError, type ProjectRecord } from './record-kinds.ts'

/** Columns were checked when they were read: those without `?` are there. */
type Columns<Text extends string, Time extends string> = Readonly<
  Record<Text, string> & Record<Time, number>
>

/** Bodies of a call that are objects. */
const OBJECTS = ['attributes', 'inputs', 'summary', 'otel_dump'] as const

/** @throws ExportFolderError */
export function toCall(record: ProjectRecord, project_id: string): CallTexts {
  for (const name of OBJECTS) {
    const text = record[name] ?? null
    if (text === null || String(text).trimStart().startsWith('{')) continue
    throw new ExportFolderError(`${name} of the call ${record.id} must be an object`)
  }
  const { started_at, ended_at, attributes, inputs, output, summary, otel_dump, ...named } = record
  return {
    ...(named as unknown as CallTexts),
    project_id,
    started_at_us: started_at as number,
    ended_at_us: ended_at as number | null,
    attributes_json: attributes as string | null,
    inputs_json: inputs as string | null,
    output_json: output as string | null,
    summary_json: summary as string | null,
    otel_dump_json: otel_dump as string | null,
    storage_size_bytes: 0,
  }
}

export function toFeedback(record: ProjectRecord, project_id: string): Feedback {
  const { created_at, payload, scores, ...named } = record
  return {
    ...(named as unknown as Feedback),
    project_id,
    created_at_us: created_at as number,
    payload_json: payload as string,
    scores_json: scores as string | null,
  }
}

/** @throws ExportFolderError */
export function toObject(record: ProjectRecord, project_id: string): NewObject {
  const { object_id, digest, kind, svc_user_id, created_at, val } = record as Columns<
    'object_id' | 'digest' | 'kind' | 'svc_user_id' | 'val',
    'created_at'
  >
  if (kind !== 'op' && kind !== 'object') {
    throw new ExportFolderError(`the kind of ${object_id} must be op or object`)
  }
  requireContent(digest, val)
  return {
    project_id,
    object_id,
    digest,
    kind,
    base_object_class: record.base_object_class as string | null,
    leaf_object_class: record.leaf_object_class as string | null,
    svc_user_id,
    created_at_us: created_at,
    val_json: val,
  }
}

/** @throws ExportFolderError */
export function toRow(record: ProjectRecord): NewRow {
  const { digest, val } = record as Columns<'digest' | 'val', never>
  requireContent(digest, val)
  return { digest, val_json: val }
}

function requireContent(digest: string, text: string): void {
  const found = digestOfJson(text)
  if (found === digest) return
  throw new ExportFolderError(`a content has the digest ${found}, not ${digest}`)
}
