/**
 * Columns of call_bodies: short texts are stored verbatim, long ones compressed in separate columns
 * (body-compression.ts).
 */
import { PREVIEWED_BYTES_MAX } from '../../../domain/calls/body-preview.ts'
import { insertRow } from '../../base/db/rows.sql.ts'

/** The bodies of a start, and of an end, in the order of their parameters. */
export const START_BODIES = ['attributes', 'inputs', 'otel_dump'] as const
export const END_BODIES = ['output', 'summary'] as const
export const BODY_NAMES = [...START_BODIES, ...END_BODIES] as const
export type BodyName = (typeof BODY_NAMES)[number]

/** Selects the text of a body as `<name>_json`, whichever column holds it. */
export function bodyText(name: BodyName): string {
  return `coalesce(call_bodies.${name}_json, unzstd(call_bodies.${name}_zstd)) AS ${name}_json`
}

/** The same, NULL for a text of more than PREVIEWED_BYTES_MAX; and whether it may be one, as `<name>_is_long`. */
export function shortBodyText(name: BodyName): string {
  const packed = `call_bodies.${name}_zstd`
  // The length of a blob is in the record's header: none of its pages is read for it.
  return `CASE
    WHEN length(${packed}) > ${PREVIEWED_BYTES_MAX} THEN NULL
    ELSE coalesce(call_bodies.${name}_json, unzstd_short(${packed}))
  END AS ${name}_json,
  ${packed} IS NOT NULL AS ${name}_is_long`
}

/** Returns the INSERT of a row with some bodies; parameters: its key, then those of packBodies. */
export function insertBodies(names: readonly BodyName[]): string {
  return insertRow('call_bodies', ['call_key', ...names.flatMap(columnsOf)])
}

/** Returns the UPDATE of some bodies of a row; by primary key. Parameters: those of packBodies, then its key. */
export function updateBodies(names: readonly BodyName[]): string {
  const sets = names.flatMap(columnsOf).map((column) => `${column} = ?`)
  return `
UPDATE call_bodies
SET
  ${sets.join(',\n  ')}
WHERE call_key = ?
`
}

function columnsOf(name: BodyName): string[] {
  return [`${name}_json`, `${name}_zstd`]
}
