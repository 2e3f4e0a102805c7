/** The retention period of a project's calls. Pure. */

/** The setting of a project. */
export interface ProjectRetention {
  readonly project_id: string
  /** Days after which calls are deleted; null: they stay until they are deleted. */
  readonly retention_days: number | null
}

const HOUR_US = 3_600_000_000
const DAY_US = 24 * HOUR_US

/**
 * Returns the retention days of a project; null: for ever.
 *
 * @param own - the setting of the project, or null
 * @param defaultDays - of the server
 *
 * Spec: §4 (the routes are not shown). Choice: a project that was told null keeps its calls, whatever the server's
 * default is.
 */
export function resolveRetention(
  own: ProjectRetention | null,
  defaultDays: number | null,
): number | null {
  return own === null ? defaultDays : own.retention_days
}

/** Returns the whole hour (UTC) before which expired calls have begun. */
export function toExpiryUs(nowUs: number, days: number): number {
  return Math.floor((nowUs - days * DAY_US) / HOUR_US) * HOUR_US
}
