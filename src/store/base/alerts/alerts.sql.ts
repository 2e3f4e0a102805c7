/** Statements for alerts and their events. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'id',
  'project_id',
  'created_at_us',
  'settings_json',
  'secret',
  'is_enabled',
  'next_check_at_us',
  'is_firing',
  'streak',
  'value',
  'checked_at_us',
  'changed_at_us',
  'error',
]
const EVENT_COLUMNS = [
  'id',
  'alert_id',
  'created_at_us',
  'kind',
  'value',
  'threshold',
  'window_s',
  'delivery',
  'attempts',
  'next_attempt_at_us',
  'response_status',
  'error',
  'delivered_at_us',
]
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM alerts`
const SELECT_EVENTS = `SELECT ${EVENT_COLUMNS.join(', ')} FROM alert_events`

export const INSERT_ALERT = insertNamed('alerts', COLUMNS)
export const INSERT_EVENT = insertNamed('alert_events', EVENT_COLUMNS)

export const COUNT_ALERTS = 'SELECT count(*) AS count FROM alerts'

/** By the index of projects. */
export const COUNT_OF_PROJECT =
  'SELECT count(*) AS count FROM alerts WHERE project_id = @project_id'

/** By the index of projects. */
export const LIST_ALERTS = `
${SELECT}
WHERE project_id = @project_id
ORDER BY created_at_us, id
LIMIT @limit
`

/** By primary key. */
export const FIND_ALERT = `
${SELECT}
WHERE id = @id
`

/** By primary key; only with the newest claim. */
export const FIND_CLAIMED_ALERT = `
${SELECT}
WHERE id = @id AND claim_id = @claim_id
`

/** By the index of alerts. */
export const LIST_EVENTS = `
${SELECT_EVENTS}
WHERE alert_id = @alert_id
ORDER BY created_at_us DESC, id DESC
LIMIT @limit
`

export const UPDATE_ALERT = `
UPDATE alerts
SET
  settings_json = @settings_json,
  secret = @secret,
  is_enabled = @is_enabled,
  is_firing = is_firing * @is_enabled,
  streak = 0,
  next_check_at_us = @now_us,
  claim_id = NULL
WHERE id = @id
`

export const DELETE_ALERT = 'DELETE FROM alerts WHERE id = @id'
export const DELETE_EVENTS = 'DELETE FROM alert_events WHERE alert_id = @id'

/** A check that is due later than any interval allows was stored by a clock that has been set back. By the index. */
const DUE = 'is_enabled = 1 AND (next_check_at_us <= @now_us OR next_check_at_us > @latest_us)'

export const HAS_DUE_CHECK = `SELECT 1 AS found FROM alerts WHERE ${DUE} LIMIT 1`

export const LIST_DUE = `
${SELECT}
WHERE ${DUE}
ORDER BY next_check_at_us, id
LIMIT @limit
`

export const CLAIM_CHECK = `
UPDATE alerts
SET claim_id = @claim_id, next_check_at_us = @until_us
WHERE id = @id
`

export const SETTLE_CHECK = `
UPDATE alerts
SET
  is_firing = @is_firing,
  streak = @streak,
  value = @value,
  checked_at_us = @now_us,
  changed_at_us = @changed_at_us,
  error = @error,
  next_check_at_us = @next_check_at_us,
  claim_id = NULL
WHERE id = @id
`

/** Removes all but the newest events of an alert. */
export const PRUNE_EVENTS = `
DELETE FROM alert_events
WHERE alert_id = @alert_id AND id NOT IN (
  SELECT id
  FROM alert_events
  WHERE alert_id = @alert_id
  ORDER BY created_at_us DESC, id DESC
  LIMIT @limit
)
`

/** By the index of pending deliveries. Later ones of an alert wait for its oldest. */
const DUE_DELIVERY = `
delivery = 'pending'
  AND (next_attempt_at_us <= @now_us OR next_attempt_at_us > @latest_us)
  AND NOT EXISTS (
    SELECT 1
    FROM alert_events AS older
    WHERE older.alert_id = alert_events.alert_id
      AND older.delivery = 'pending'
      AND (older.created_at_us, older.id) < (alert_events.created_at_us, alert_events.id)
  )
`

export const HAS_DUE_DELIVERY = `SELECT 1 AS found FROM alert_events WHERE ${DUE_DELIVERY} LIMIT 1`

export const LIST_DUE_DELIVERIES = `
${SELECT_EVENTS}
WHERE ${DUE_DELIVERY}
ORDER BY next_attempt_at_us, id
LIMIT @limit
`

export const CLAIM_DELIVERY = `
UPDATE alert_events
SET claim_id = @claim_id, next_attempt_at_us = @until_us
WHERE id = @id
`

/** By primary key; only with the newest claim. */
export const FIND_CLAIMED_EVENT = `
${SELECT_EVENTS}
WHERE id = @id AND claim_id = @claim_id
`

export const SETTLE_DELIVERY = `
UPDATE alert_events
SET
  delivery = @delivery,
  attempts = @attempts,
  next_attempt_at_us = @next_attempt_at_us,
  response_status = @response_status,
  error = @error,
  delivered_at_us = @delivered_at_us,
  claim_id = NULL
WHERE id = @id
`
