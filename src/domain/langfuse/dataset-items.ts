/**
 * Items of Langfuse's datasets as rows of a dataset of Weft. Pure.
 *
 * Spec: §2.1 (what rows hold is free). Choice: a row has the fields of its item; one that another client has written is
 * an item whose id is the digest of the row.
 */
import type { DatasetItemBody } from '../../schemas/langfuse/dataset.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { parseExact } from '../json/json-text.ts'
import { filledTextOrNull, objectOrEmpty, textOrEmpty, textOrNull } from '../json/json-values.ts'
import { sourceNameOf } from '../objects/object-kinds.ts'
import type { ObjectVersion } from '../objects/object-view.ts'

/** What is sought of a row, without its content. */
export interface ItemEntry {
  readonly id: string
  /** Of the row. */
  readonly digest: string
  readonly isArchived: boolean
  readonly source_trace_id: string | null
  readonly source_observation_id: string | null
}

interface Row {
  readonly digest: string
  readonly val_json: string
}

export function parseRow({ val_json }: Row): JsonObject {
  return objectOrEmpty(parseExact(val_json))
}

export function entryOf(row: Row): ItemEntry {
  const val = parseRow(row)
  return {
    id: filledTextOrNull(val.id) ?? row.digest,
    digest: row.digest,
    isArchived: val.status === 'ARCHIVED',
    source_trace_id: textOrNull(val.source_trace_id),
    source_observation_id: textOrNull(val.source_observation_id),
  }
}

/** The row of an item that is sent: what it leaves out stays as it was. */
export function mergeRow(
  before: JsonObject | null,
  item: DatasetItemBody & { readonly id: string },
  nowUs: number,
): JsonObject {
  const at = renderTimestamp(nowUs)
  const { input, expectedOutput, metadata, sourceTraceId, sourceObservationId, status } = item
  const sent = {
    input,
    expected_output: expectedOutput,
    metadata,
    source_trace_id: sourceTraceId,
    source_observation_id: sourceObservationId,
    status,
  }
  const given = Object.entries(sent).filter(([, value]) => value !== undefined)
  return {
    input: null,
    expected_output: null,
    metadata: null,
    created_at: at,
    ...before,
    id: item.id,
    ...Object.fromEntries(given),
    updated_at: at,
  }
}

/** A dataset, and since when its version has been there. */
interface DatasetOfItem {
  readonly id: string
  readonly name: string
  readonly at: string
}

const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...['id', 'status', 'input', 'expected_output', 'metadata', 'source_trace_id'],
  ...['source_observation_id', 'created_at', 'updated_at'],
])

/** An item as the SDKs read it. The columns of a row of another client are its input. */
export function renderItem(row: Row, dataset: DatasetOfItem) {
  const val = parseRow(row)
  const others = Object.entries(val).filter(([field]) => !OWN_FIELDS.has(field))
  return {
    id: entryOf(row).id,
    status: val.status === 'ARCHIVED' ? 'ARCHIVED' : 'ACTIVE',
    input: Object.hasOwn(val, 'input') ? val.input : Object.fromEntries(others),
    expectedOutput: val.expected_output ?? null,
    metadata: val.metadata ?? null,
    sourceTraceId: textOrNull(val.source_trace_id),
    sourceObservationId: textOrNull(val.source_observation_id),
    datasetId: dataset.id,
    datasetName: dataset.name,
    createdAt: filledTextOrNull(val.created_at) ?? dataset.at,
    updatedAt: filledTextOrNull(val.updated_at) ?? dataset.at,
    mediaReferences: [],
  }
}

/** A dataset as the SDKs read it. */
export function renderDataset(version: ObjectVersion, val: JsonObject) {
  const { project_id, object_id, created_at_us } = version
  const at = renderTimestamp(created_at_us)
  return {
    id: object_id,
    projectId: project_id,
    name: sourceNameOf(version, val),
    description: textOrNull(val.description),
    metadata: val.metadata ?? null,
    inputSchema: val.input_schema ?? null,
    expectedOutputSchema: val.expected_output_schema ?? null,
    createdAt: filledTextOrNull(val.created_at) ?? at,
    updatedAt: at,
  }
}

/** The digest of the table in a content; empty for a content without one. */
export function tableDigestOf(val: JsonObject): string {
  return textOrEmpty(val.rows).split('/').at(-1) ?? ''
}
