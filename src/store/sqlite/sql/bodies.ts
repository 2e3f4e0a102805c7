/** Columns of call_bodies: short texts as they are, long ones compressed in a column of their own. */

export const BODY_NAMES = ['attributes', 'inputs', 'output', 'summary', 'otel_dump'] as const
export type BodyName = (typeof BODY_NAMES)[number]

/**
 * Bytes from which on a text is compressed. Measured on prose in JSON: 1 KB takes 35 us and saves half a
 * KB; 20 KB take 110 us and save 14 KB.
 */
const PACKED_FROM_BYTES = 4096

/** The text of a body under its name with `_json`, whichever column it lies in. */
export function bodyText(name: BodyName): string {
  return `coalesce(call_bodies.${name}_json, unzstd(call_bodies.${name}_zstd)) AS ${name}_json`
}

/** INSERT of a row with some bodies; each comes as a parameter of its name with `_json`. */
export function insertBodies(names: readonly BodyName[]): string {
  const columns = names.flatMap((name) => [`${name}_json`, `${name}_zstd`])
  const values = names.flatMap((name) => [shortText(name), packedText(name)])
  return `
INSERT INTO call_bodies (
  ${['call_key', ...columns].join(',\n  ')}
)
VALUES (
  ${['@call_key', ...values].join(',\n  ')}
)
`
}

/** UPDATE of some bodies of a row; by primary key. */
export function updateBodies(names: readonly BodyName[]): string {
  const sets = names.flatMap((name) => [
    `${name}_json = ${shortText(name)}`,
    `${name}_zstd = ${packedText(name)}`,
  ])
  return `
UPDATE call_bodies
SET
  ${sets.join(',\n  ')}
WHERE call_key = @call_key
`
}

function shortText(name: BodyName): string {
  return `CASE WHEN octet_length(@${name}_json) < ${PACKED_FROM_BYTES} THEN @${name}_json END`
}

function packedText(name: BodyName): string {
  return `CASE WHEN octet_length(@${name}_json) >= ${PACKED_FROM_BYTES} THEN zstd(@${name}_json) END`
}
