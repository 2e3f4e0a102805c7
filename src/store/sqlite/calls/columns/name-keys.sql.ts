/** Statements for the names that calls hold as numbers. */

/** Each by its unique index. */
export const FIND_PROJECT = 'SELECT project_key FROM projects WHERE project_id = ?'
export const FIND_OP = 'SELECT op_key FROM ops WHERE op_name = ?'
export const FIND_REF = 'SELECT ref_key FROM refs WHERE ref = ?'
export const FIND_REF_PATH = 'SELECT path_key FROM ref_paths WHERE path = ?'

export const INSERT_PROJECT = 'INSERT INTO projects (project_id) VALUES (?)'
export const INSERT_OP = 'INSERT INTO ops (op_name) VALUES (?)'
export const INSERT_REF = 'INSERT INTO refs (ref) VALUES (?)'
export const INSERT_REF_PATH = 'INSERT INTO ref_paths (path) VALUES (?)'
