/** Statements for people. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'id',
  'issuer',
  'subject',
  'email',
  'name',
  'grants_json',
  'claim_grants_json',
  'created_at_us',
  'signed_in_at_us',
  'password_set_at_us',
  'link_expires_at_us',
  'sessions_from_us',
  'disabled_at_us',
]
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM people`

/** Inserts nothing when the e-mail, or the issuer and subject, are taken. */
export const INSERT_PERSON = `${insertNamed('people', COLUMNS)} ON CONFLICT DO NOTHING`

export const COUNT_PEOPLE = 'SELECT count(*) AS count FROM people'

/** By primary key. */
export const FIND_PERSON = `
${SELECT}
WHERE id = @id
`

/** By unique index. */
export const FIND_PERSON_BY_SUBJECT = `
${SELECT}
WHERE issuer = @issuer AND subject = @subject
`

/** By unique index. */
export const FIND_PERSON_BY_EMAIL = `
${SELECT}
WHERE email = @email
`

/** By the index of creation times. */
export const LIST_PEOPLE = `
${SELECT}
ORDER BY created_at_us, id
LIMIT @limit
`

/** By primary key. */
export const UPDATE_PERSON = `
UPDATE people
SET
  name = @name,
  grants_json = @grants_json,
  disabled_at_us = @disabled_at_us,
  sessions_from_us = @sessions_from_us
WHERE id = @id
`

/** By primary key; an invitation gets its issuer and subject, and loses its password. */
export const NOTE_SIGN_IN = `
UPDATE people
SET
  issuer = @issuer,
  subject = @subject,
  email = @email,
  name = @name,
  claim_grants_json = @claim_grants_json,
  signed_in_at_us = @signed_in_at_us,
  password_hash = NULL,
  password_set_at_us = NULL,
  link_hash = NULL,
  link_expires_at_us = NULL
WHERE id = @id
`

/** By primary key. */
export const END_SESSIONS = `
UPDATE people
SET sessions_from_us = @now_us
WHERE id = @id AND sessions_from_us < @now_us
`
