import { insertNamed } from '../../../src/store/base/db/rows.sql.ts'
import { FEEDBACK_COLUMNS } from '../../../src/store/base/feedback/feedback.sql.ts'

/** The INSERT of a feedback record, with parameters named like the columns. */
export const INSERT_FEEDBACK = insertNamed('feedback', FEEDBACK_COLUMNS)
