/** Statements for published objects. */
import { markStatements } from '../../base/objects/marks.sql.ts'
import { objectStatements } from '../../base/objects/objects.sql.ts'
import { SQLITE } from '../db/dialect.sql.ts'

export const OBJECTS = { ...objectStatements(SQLITE), ...markStatements(SQLITE) }
