/** The contract of the store of alerts, which hands out checks and deliveries to one process at a time. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type {
  Alert,
  AlertEvent,
  AlertSettings,
  AttemptResult,
} from '../../../domain/alerts/alert.ts'

/** Limits: alerts of a project and of a server. */
export const ALERTS_PER_PROJECT_MAX = 100
export const ALERTS_MAX = 2_000
/** Limit: events that are stored of an alert, the newest. */
export const ALERT_EVENTS_MAX = 200

/** Work that a process has claimed. Times in microseconds. */
export interface Claiming {
  /** Names the claim: only who has the newest one may settle it. */
  readonly claim_id: string
  readonly now_us: number
  /** When others may claim the same again. */
  readonly until_us: number
  /** At most so many. */
  readonly limit: number
}

export interface CheckResult {
  readonly alert_id: string
  readonly claim_id: string
  readonly now_us: number
  readonly next_check_at_us: number
  /** null: the window has none, or the check failed. */
  readonly value: number | null
  /** Why the check failed, which changes no state; null: it did not. */
  readonly error: string | null
  /** Id of the event, if the state changes. */
  readonly event_id: string
}

export interface ClaimedDelivery {
  readonly event: AlertEvent
  readonly alert: Alert
}

export type AlertChange = Pick<Alert, 'id' | 'secret'> & {
  readonly settings: AlertSettings
  readonly now_us: number
  /** Names of secret fields that are replaced, for the audit list. */
  readonly replaced: readonly string[]
}

/** Changes add entries to the audit list, in their transaction. */
export interface AlertStore {
  /** Those of a project, oldest first; at most ALERTS_PER_PROJECT_MAX. @throws ApiError store_unavailable */
  listAlerts(project_id: string): Promise<Alert[]>
  findAlert(id: string): Promise<Alert | null>
  /** The newest first; at most ALERT_EVENTS_MAX. */
  listEvents(alert_id: string): Promise<AlertEvent[]>
  /** @throws ApiError validation_failed for more than ALERTS_PER_PROJECT_MAX or ALERTS_MAX */
  createAlert(alert: Alert, by?: AuditOrigin): Promise<void>
  /** Replaces the settings; it is due at once. Disabled, it fires no longer. False when there is no such alert. */
  updateAlert(change: AlertChange, by?: AuditOrigin): Promise<boolean>
  /** Deletes it with its events. False when there is no such alert. */
  deleteAlert(id: string, by?: AuditOrigin): Promise<boolean>
  /** Whether checks or deliveries are due, without claiming them. */
  hasDue(now_us: number): Promise<{ readonly checks: boolean; readonly deliveries: boolean }>
  /** Claims alerts whose check is due. One that is not settled is due again when the claim ends. */
  claimChecks(claiming: Claiming): Promise<Alert[]>
  /**
   * Stores the result of a claimed check, and the event if the state changes. Without effect when the alert was claimed
   * again, edited or deleted.
   *
   * @returns the change; null: none
   */
  settleCheck(result: CheckResult): Promise<AlertEvent['kind'] | null>
  /** Claims deliveries that are due: of each alert the oldest alone, so that a receiver gets changes in their order. */
  claimDeliveries(claiming: Claiming): Promise<ClaimedDelivery[]>
  /** Stores how an attempt ended, without effect when the delivery was claimed again or deleted. */
  settleDelivery(
    result: AttemptResult & {
      readonly event_id: string
      readonly claim_id: string
      readonly now_us: number
    },
  ): Promise<void>
}
