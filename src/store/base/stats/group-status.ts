/** The groups of calls by status, from sums of their starts and ends. Pure. */
import { CALL_NUMBERS } from './sums.ts'

/** The names of the groups, at these indexes. */
export const STATUSES = ['success', 'error', 'running'] as const
export const [SUCCESS, ERROR, RUNNING] = [0, 1, 2] as const

/**
 * Corrects the number of calls of each group: stores may have the start and the end of a call apart, so a call is one of the
 * ends that its group has, and the others of all starts are running.
 *
 * @param calls - CALL_NUMBERS by STATUSES, of starts alone at RUNNING
 */
export function settleStatuses(calls: Float64Array): void {
  const read = (group: number, number: number) => calls[group * CALL_NUMBERS + number] as number
  const starts = read(SUCCESS, 0) + read(ERROR, 0) + read(RUNNING, 0)
  const [successes, errors] = [read(SUCCESS, 1), read(ERROR, 1)]
  calls[SUCCESS * CALL_NUMBERS] = successes
  calls[ERROR * CALL_NUMBERS] = errors
  calls[RUNNING * CALL_NUMBERS] = starts - successes - errors
}
