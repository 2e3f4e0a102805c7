/** Converts ids and names of calls in SQL to the columns of `calls` (id-columns.ts) and back. */

/** Returns the column value of an id, given the expression of its text. */
export function packedId(text: string): string {
  return `CASE octet_length(${text})
    WHEN 36 THEN iif(
      ${text} GLOB '????????-????-????-????-????????????'
      AND ${text} = lower(${text}) AND length(unhex(${text}, '-')) = 16,
      unhex(${text}, '-'),
      ${text}
    )
    WHEN 32 THEN iif(
      ${text} = lower(${text}) AND length(unhex('00' || ${text})) = 17,
      unhex('00' || ${text}),
      ${text}
    )
    WHEN 16 THEN iif(
      ${text} = lower(${text}) AND length(unhex(${text})) = 8,
      unhex(${text}),
      ${text}
    )
    ELSE ${text}
  END`
}

/** Returns the text of an id's column; null stays null. */
export function idText(column: string): string {
  const part = (from: number, bytes: number) => `lower(hex(substr(${column}, ${from}, ${bytes})))`
  const uuid = [part(1, 4), part(5, 2), part(7, 2), part(9, 2), part(11, 6)].join(" || '-' || ")
  return `CASE
    WHEN typeof(${column}) <> 'blob' THEN ${column}
    WHEN length(${column}) = 16 THEN ${uuid}
    WHEN length(${column}) = 8 THEN lower(hex(${column}))
    ELSE substr(lower(hex(${column})), 3)
  END`
}

/** Selects columns of ids of a call as text, under their own names. */
export function idTexts(columns: readonly string[]): string {
  return columns.map((column) => `${idText(`calls.${column}`)} AS ${column}`).join(',\n  ')
}

/** The key of the project `@project_id`; null when nothing of it is stored (unique in projects). */
export const PROJECT_KEY = '(SELECT project_key FROM projects WHERE project_id = @project_id)'

/** The project and the op of a call, by their primary keys. */
export const PROJECT_ID =
  '(SELECT project_id FROM projects WHERE projects.project_key = calls.project_key)'
export const OP_NAME = '(SELECT op_name FROM ops WHERE ops.op_key = calls.op_key)'

/** Each by its unique index. */
export const FIND_PROJECT = 'SELECT project_key FROM projects WHERE project_id = ?'
export const FIND_OP = 'SELECT op_key FROM ops WHERE op_name = ?'
export const FIND_REF = 'SELECT ref_key FROM refs WHERE ref = ?'
export const FIND_REF_PATH = 'SELECT path_key FROM ref_paths WHERE path = ?'

export const INSERT_PROJECT = 'INSERT INTO projects (project_id) VALUES (?)'
export const INSERT_OP = 'INSERT INTO ops (op_name) VALUES (?)'
export const INSERT_REF = 'INSERT INTO refs (ref) VALUES (?)'
export const INSERT_REF_PATH = 'INSERT INTO ref_paths (path) VALUES (?)'
