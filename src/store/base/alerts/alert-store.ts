/** Alerts in SQLite and PostgreSQL alike. */
import { type AuditChange, diffStates, SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import {
  type Alert,
  type AlertEvent,
  type AlertSettings,
  type AttemptResult,
  checkAlert,
  renderAuditedAlert,
  settleAttempt,
} from '../../../domain/alerts/alert.ts'
import { ApiError } from '../../../errors.ts'
import {
  ALERT_EVENTS_MAX,
  ALERTS_MAX,
  ALERTS_PER_PROJECT_MAX,
  type AlertChange,
  type AlertStore,
  type CheckResult,
  type ClaimedDelivery,
  type Claiming,
} from '../../api/alerts/alerts.ts'
import { type AuditStamp, record, stamp } from '../access/audit-store.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './alerts.sql.ts'

/** A time that is further in the future than this was stored by another clock: longer than any interval or delay. */
const FUTURE_US_MAX = 12 * 3_600_000_000

interface AlertRow extends Omit<Alert, 'settings' | 'is_firing'> {
  readonly settings_json: string
  readonly is_firing: number
  readonly is_enabled: number
  readonly next_check_at_us: number
}

interface Audited {
  readonly by: AuditStamp
}

type AlertWrites = ReturnType<typeof createAlertWrites>

export function createAlertWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const lock = (sql: string) => `${sql} ${forUpdate}`
  return {
    ...createEdits(lock(SQL.FIND_ALERT)),
    *claim_alert_checks({ claim_id, now_us, until_us, limit }: Claiming): Steps<Alert[]> {
      const rows = yield* all<AlertRow>(lock(SQL.LIST_DUE), { ...dueAt(now_us), limit })
      for (const { id } of rows) yield* run(SQL.CLAIM_CHECK, { id, claim_id, until_us })
      return rows.map(toAlert)
    },
    *settle_alert_check(result: CheckResult): Steps<AlertEvent['kind'] | null> {
      const { alert_id: id, claim_id, now_us, value, error } = result
      const row = yield* first<AlertRow>(lock(SQL.FIND_CLAIMED_ALERT), { id, claim_id })
      if (row === undefined) return null
      const { settings, ...alert } = toAlert(row)
      const { is_firing, streak, change } =
        error === null ? checkAlert(settings, alert, value) : { ...alert, change: null }
      yield* run(SQL.SETTLE_CHECK, {
        id,
        is_firing: Number(is_firing),
        streak,
        value,
        now_us,
        next_check_at_us: result.next_check_at_us,
        changed_at_us: change === null ? alert.changed_at_us : now_us,
        error,
      })
      if (change !== null) yield* addEvent(settings, result, change)
      return change
    },
    *claim_alert_deliveries(claiming: Claiming): Steps<ClaimedDelivery[]> {
      const { claim_id, now_us, until_us, limit } = claiming
      const due = { ...dueAt(now_us), limit }
      const events = yield* all<AlertEvent>(lock(SQL.LIST_DUE_DELIVERIES), due)
      const claimed: ClaimedDelivery[] = []
      for (const event of events) {
        yield* run(SQL.CLAIM_DELIVERY, { id: event.id, claim_id, until_us })
        const row = yield* first<AlertRow>(SQL.FIND_ALERT, { id: event.alert_id })
        if (row !== undefined) claimed.push({ event, alert: toAlert(row) })
      }
      return claimed
    },
    *settle_alert_delivery(
      result: AttemptResult & { event_id: string; claim_id: string; now_us: number },
    ): Steps<void> {
      const { event_id: id, claim_id, now_us } = result
      const event = yield* first<AlertEvent>(lock(SQL.FIND_CLAIMED_EVENT), { id, claim_id })
      if (event === undefined) return
      yield* run(SQL.SETTLE_DELIVERY, { id, ...settleAttempt(event, result, now_us) })
    },
  }
}

function dueAt(now_us: number) {
  return { now_us, latest_us: now_us + FUTURE_US_MAX }
}

function* addEvent(
  { threshold, window_s }: AlertSettings,
  { alert_id, event_id, now_us, value }: CheckResult,
  kind: AlertEvent['kind'],
): Steps<void> {
  const event: AlertEvent = {
    id: event_id,
    alert_id,
    created_at_us: now_us,
    kind,
    value,
    threshold,
    window_s,
    delivery: 'pending',
    attempts: 0,
    next_attempt_at_us: now_us,
    response_status: null,
    error: null,
    delivered_at_us: null,
  }
  yield* run(SQL.INSERT_EVENT, event)
  yield* run(SQL.PRUNE_EVENTS, { alert_id, limit: ALERT_EVENTS_MAX })
}

/** The changes that admins make. @param lockAlert - a statement that reads an alert and locks it */
function createEdits(lockAlert: string) {
  return {
    *create_alert({ by, settings, ...alert }: Alert & Audited): Steps<void> {
      const { project_id, id } = alert
      yield* run(SQL.INSERT_ALERT, {
        ...alert,
        settings_json: JSON.stringify(settings),
        is_enabled: Number(settings.is_enabled),
        is_firing: Number(alert.is_firing),
        next_check_at_us: alert.created_at_us,
      })
      const [ofProject, ofServer] = [
        yield* count(SQL.COUNT_OF_PROJECT, { project_id }),
        yield* count(SQL.COUNT_ALERTS, {}),
      ]
      if (ofProject > ALERTS_PER_PROJECT_MAX || ofServer > ALERTS_MAX) {
        throw new ApiError('validation_failed', {
          message: `A project has at most ${ALERTS_PER_PROJECT_MAX} alerts, a server ${ALERTS_MAX}.`,
        })
      }
      const after = renderAuditedAlert({ project_id, settings })
      yield* recordAlert(by, { id, project_id }, { action: 'alert.create', before: null, after })
    },
    *update_alert(change: AlertChange & Audited): Steps<boolean> {
      const { by, id, settings, secret, now_us, replaced } = change
      const row = yield* first<AlertRow>(lockAlert, { id })
      if (row === undefined) return false
      const alert = toAlert(row)
      yield* run(SQL.UPDATE_ALERT, {
        id,
        settings_json: JSON.stringify(settings),
        secret,
        is_enabled: Number(settings.is_enabled),
        now_us,
      })
      const next = renderAuditedAlert({ ...alert, settings })
      const states = diffStates(
        { ...renderAuditedAlert(alert), replaced: [] },
        { ...next, replaced },
      )
      yield* recordAlert(by, alert, { action: 'alert.update', ...states })
      return true
    },
    *delete_alert({ id, by }: Audited & { readonly id: string }): Steps<boolean> {
      const row = yield* first<AlertRow>(lockAlert, { id })
      if (row === undefined) return false
      yield* run(SQL.DELETE_EVENTS, { id })
      yield* run(SQL.DELETE_ALERT, { id })
      const alert = toAlert(row)
      const before = renderAuditedAlert(alert)
      yield* recordAlert(by, alert, { action: 'alert.delete', before, after: null })
      return true
    },
  }
}

function recordAlert(
  by: AuditStamp,
  { id, project_id }: Pick<Alert, 'id' | 'project_id'>,
  change: Pick<AuditChange, 'action' | 'before' | 'after'>,
): Steps<void> {
  return record(by, { ...change, subject_id: id, projects: [project_id] })
}

function toAlert(row: AlertRow): Alert {
  const { settings_json, is_firing, is_enabled: _, next_check_at_us: __, ...alert } = row
  return {
    ...alert,
    settings: JSON.parse(settings_json) as AlertSettings,
    is_firing: is_firing === 1,
  }
}

export function createAlertStore({ read, write }: StepRuns<AlertWrites>): AlertStore {
  const isFound = async (sql: string, now_us: number) =>
    (await read(first<{ found: number }>(sql, dueAt(now_us)))) !== undefined
  return {
    async listAlerts(project_id) {
      const limit = ALERTS_PER_PROJECT_MAX
      return (await read(all<AlertRow>(SQL.LIST_ALERTS, { project_id, limit }))).map(toAlert)
    },
    async findAlert(id) {
      const row = await read(first<AlertRow>(SQL.FIND_ALERT, { id }))
      return row === undefined ? null : toAlert(row)
    },
    listEvents: (alert_id) =>
      read(all<AlertEvent>(SQL.LIST_EVENTS, { alert_id, limit: ALERT_EVENTS_MAX })),
    createAlert: (alert, by = SERVER_ORIGIN) => write('create_alert', { ...alert, by: stamp(by) }),
    updateAlert: (change, by = SERVER_ORIGIN) =>
      write('update_alert', { ...change, by: stamp(by) }),
    deleteAlert: (id, by = SERVER_ORIGIN) => write('delete_alert', { id, by: stamp(by) }),
    async hasDue(now_us) {
      return {
        checks: await isFound(SQL.HAS_DUE_CHECK, now_us),
        deliveries: await isFound(SQL.HAS_DUE_DELIVERY, now_us),
      }
    },
    claimChecks: (claiming) => write('claim_alert_checks', claiming),
    settleCheck: (result) => write('settle_alert_check', result),
    claimDeliveries: (claiming) => write('claim_alert_deliveries', claiming),
    settleDelivery: (result) => write('settle_alert_delivery', result),
  }
}
