/** Finds the built hours that a query of statistics may read. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { StatsQuery } from '../../api/stats/stats.ts'
import type { FilterCondition } from '../calls/calls.sql.ts'
import type { Parameters } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { type BuiltHour, fitsHours } from '../hours/hour-plan.ts'
import { LIST_DOUBLED_HOURS } from '../hours/hour-usage.sql.ts'
import { HOUR_US, LIST_BUILT } from '../hours/hours.sql.ts'
import { HAS_DOUBLES } from '../usage/requests.sql.ts'

/** The times of a query. */
type Window = Pick<StatsQuery, 'startUs' | 'endUs' | 'startsUs'>

/** What the statements of a query have in common. */
export interface QueryClause {
  readonly conditions: readonly FilterCondition[]
  readonly parameters: Parameters
}

/** Returns the valid built hours of a query that can use some. */
export async function findBuilt(
  reads: Reads,
  query: Window,
  { conditions, parameters }: QueryClause,
  caller: ReadCaller,
): Promise<BuiltHour[]> {
  if (!fitsHours(conditions, query)) return []
  return reads.read<BuiltHour>(LIST_BUILT, { ...parameters, ...boundsOf(query) }, caller)
}

export function countCalls(built: readonly BuiltHour[]): number {
  return built.reduce((sum, { calls }) => sum + calls, 0)
}

/** Parameters of the statements that read hours. */
export function hoursOf(query: Omit<Window, 'startsUs'>, hours: readonly BuiltHour[]): Parameters {
  return {
    ...boundsOf(query),
    hours: hours.map(({ hour }) => hour),
    versions: hours.map(({ version }) => version),
  }
}

function boundsOf({ startUs, endUs }: Omit<Window, 'startsUs'>): Parameters {
  return { from_hour: Math.floor(startUs / HOUR_US), to_hour: Math.ceil(endUs / HOUR_US) }
}

/**
 * Finds whether requests of a project have several calls, and returns the built hours without such calls: in the others
 * only the rows say which of them count.
 */
export async function findUsableHours(
  reads: Reads,
  { counting, project_id }: Pick<StatsQuery, 'counting' | 'project_id'>,
  parameters: Parameters,
  built: readonly BuiltHour[],
  caller: ReadCaller,
): Promise<{ readonly isDoubled: boolean; readonly hours: readonly BuiltHour[] }> {
  const isOwn = counting === 'own'
  const isDoubled = isOwn && (await reads.read(HAS_DOUBLES, { project_id }, caller)).length > 0
  if (!isDoubled || built.length === 0) return { isDoubled, hours: built }
  const doubled = await reads.read<{ hour: number }>(LIST_DOUBLED_HOURS, parameters, caller)
  const isLeft = new Set(doubled.map(({ hour }) => hour))
  return { isDoubled, hours: built.filter(({ hour }) => !isLeft.has(hour)) }
}
