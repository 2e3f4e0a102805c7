/** Finds the starts of parents whose own usage changes with what their children report. */
import { keyOf } from '../../../../domain/calls/call-state.ts'
import type { ClickHouse, Row } from '../../db/client.ts'
import { partsOf } from '../../db/reads.ts'
import type { ChangedCall } from '../../hours/hour-changes.ts'
import { LIST_STARTS } from '../removal/call-removal.sql.ts'

interface Child {
  readonly project_id: string
  readonly parent_id: string | null
}

/** Returns the stored parents of calls. */
export async function findParents(db: ClickHouse, calls: readonly Child[]): Promise<ChangedCall[]> {
  const found: ChangedCall[] = []
  for (const [project_id, children] of Map.groupBy(calls, (call) => call.project_id)) {
    const parents = new Set(children.flatMap(({ parent_id }) => parent_id ?? []))
    for (const ids of partsOf([...parents])) {
      const starts = await db.read<{ started_at_us: number }>(LIST_STARTS, { project_id, ids })
      found.push(...starts.map(({ started_at_us }) => ({ project_id, started_at_us })))
    }
  }
  return found
}

/**
 * Returns the stored parents of the calls that a batch writes and that report usage.
 *
 * @param rows - of the table of calls
 * @param known - times of the parents of those that begin, by keyOf; without it, all are looked up
 */
export async function findReportedTo(
  db: ClickHouse,
  rows: readonly Row[],
  known: ReadonlyMap<string, readonly number[]> | null = null,
): Promise<ChangedCall[]> {
  const reports = rows.filter((row) => (row['usage.model'] as string[] | undefined)?.length)
  const isKnown = ({ has_start }: Row) => known !== null && has_start === 1
  const found = (reports.filter(isKnown) as unknown as Child[]).flatMap(
    ({ project_id, parent_id }) =>
      (known?.get(keyOf({ project_id, id: parent_id ?? '' })) ?? []).map((started_at_us) => ({
        project_id,
        started_at_us,
      })),
  )
  const others = reports.filter((row) => !isKnown(row)) as unknown as Child[]
  return [...found, ...(await findParents(db, others))]
}
