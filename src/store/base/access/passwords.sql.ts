/** Statements for passwords, which are columns of people. */

/** By unique index. */
export const FIND_PASSWORD_BY_EMAIL = `
SELECT id AS person_id, password_hash
FROM people
WHERE email = @email AND password_hash IS NOT NULL
`

/** By primary key. */
export const FIND_PASSWORD = `
SELECT id AS person_id, password_hash
FROM people
WHERE id = @id AND password_hash IS NOT NULL
`

/** By unique index; of people who were not removed. */
export const FIND_LINK = `
SELECT id
FROM people
WHERE link_hash = @link_hash AND link_expires_at_us > @now_us AND disabled_at_us IS NULL
`

/** By primary key. */
export const CREATE_LINK = `
UPDATE people
SET
  password_hash = NULL,
  password_set_at_us = NULL,
  link_hash = @link_hash,
  link_expires_at_us = @link_expires_at_us,
  sessions_from_us = @now_us
WHERE id = @id
`

/** By primary key. */
export const SET_PASSWORD = `
UPDATE people
SET
  password_hash = @password_hash,
  password_set_at_us = @now_us,
  link_hash = NULL,
  link_expires_at_us = NULL,
  sessions_from_us = @now_us,
  signed_in_at_us = @now_us
WHERE id = @id
`

/** By primary key; counts 0 when it is another one, or the person was removed. */
export const NOTE_PASSWORD_SIGN_IN = `
UPDATE people
SET signed_in_at_us = @now_us
WHERE id = @id AND password_hash = @checked_hash AND disabled_at_us IS NULL
`
