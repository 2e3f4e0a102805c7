/** Maintains the sums of what the children of calls report, of each request once. */
import {
  addedUsage,
  type CountedUsage,
  repeatsChildren,
  USAGE_COUNTERS,
  type UsageCounters,
  type UsageSum,
} from '../../../domain/usage/own-usage.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import { isSamePackedId, type PackedId } from '../calls/columns/id-columns.ts'
import type { Connection } from '../db/connection.ts'
import type { HourMarks } from '../stats/hour-marks.ts'
import * as SQL from './nested-usage.sql.ts'
import { readCounted, readNested, readReport, USAGE_COLUMNS } from './usage-rows.ts'

type Key = number | bigint

/** The bit of `call_usage.repeats` for reports that are the sum of the children's. */
const REPEATS_CHILDREN = 2

/** A call with a parent, in the form of its columns. */
export interface PackedChild {
  readonly call_key: Key
  readonly project_key: Key
  readonly packed_parent_id: PackedId | null
}

/** A call that reports and counts, in the form of its columns. */
interface SummedCall extends PackedChild {
  readonly call_key: number
  readonly project_id: string
  readonly packed_id: PackedId
  readonly started_at_us: number
  readonly identity: string | null
}

type ChildSum = UsageCounters & {
  readonly model: string
  readonly below_input_tokens: number
  readonly below_output_tokens: number
}

/** @param onLeaf - called with the request of a call that gets its first report below, or loses its last */
export function createChildSums(
  db: Connection,
  hours: Pick<HourMarks, 'recount'>,
  onLeaf: (project_key: Key, identity: string | null) => void,
) {
  const sumChildren = db.prepare(SQL.SUM_CHILDREN_USAGE)
  const findSummedCall = db.prepare(SQL.FIND_SUMMED_CALL)
  const findSummedParent = db.prepare(SQL.FIND_SUMMED_PARENT)
  const hasTwin = db.prepare(SQL.HAS_TWIN).pluck()
  const storeSums = createSumsWrite(db, hours, onLeaf)
  /** Calls whose sums are computed again at the end of the write. */
  const changed = new Set<number>()

  function findParent({ call_key, project_key, packed_parent_id }: PackedChild): SummedCall | null {
    if (packed_parent_id === null) return null
    const bound = { call_key, project_key, packed_parent_id }
    return (findSummedParent.get(bound) as SummedCall | undefined) ?? null
  }

  function sumAgain(call_key: number): void {
    const call = findSummedCall.get({ call_key }) as SummedCall | undefined
    if (!call) return
    const { project_id: _project, ...bound } = call
    const rows = sumChildren.all(bound) as ChildSum[]
    const sums = new Map(rows.map(({ model, ...sum }) => [model, sum]))
    const below = {
      input_tokens: cap(rows.reduce((sum, row) => sum + row.below_input_tokens, 0)),
      output_tokens: cap(rows.reduce((sum, row) => sum + row.below_output_tokens, 0)),
    }
    storeSums(
      call,
      (model) => sums.get(model) ?? null,
      () => below,
    )
  }

  return {
    /** Has the sums of a call, and those of its parent, computed again. */
    change(call: PackedChild): void {
      changed.add(Number(call.call_key))
      const parent = findParent(call)
      if (parent) changed.add(parent.call_key)
    },

    /** Has the sums of a call computed again. */
    changeOwn(call_key: Key): void {
      changed.add(Number(call_key))
    },

    /**
     * Adds a child's reports to its parent's sums, or subtracts them. Sums up again where that is not all: where another
     * child reports the same request, or one of them is the other's parent, too.
     */
    addToParent(
      child: PackedChild & { readonly packed_id: PackedId },
      identity: string | null,
      usage: readonly CallUsage[],
      sign: 1 | -1,
    ): void {
      const parent = findParent(child)
      if (!parent) return
      const { call_key, project_key, packed_parent_id } = child
      const isShared =
        identity !== null &&
        (identity === parent.identity ||
          hasTwin.get({ call_key, project_key, identity, packed_parent_id }) === 1)
      if (isShared || isSamePackedId(parent.packed_parent_id, child.packed_id)) {
        changed.add(parent.call_key)
        return
      }
      const byModel = new Map(usage.map((report) => [report.model, addedUsage(report)]))
      storeSums(
        parent,
        (model, stored) => shift(stored, byModel.get(model), sign),
        (below) => shiftSum(below, usage, sign),
      )
    },

    /** Computes what has changed. @returns whether anything had */
    settle(): boolean {
      const calls = [...changed]
      changed.clear()
      for (const call_key of calls) sumAgain(call_key)
      return calls.length > 0
    },
  }
}

const NO_SUMS = Object.fromEntries(USAGE_COUNTERS.map((counter) => [counter, null]))

/**
 * Creates the write of new sums of a call. Of its parameters `sumOf` returns those of a model, and `belowOf` those of all
 * models, both from the stored ones.
 */
function createSumsWrite(
  db: Connection,
  hours: Pick<HourMarks, 'recount'>,
  onLeaf: (project_key: Key, identity: string | null) => void,
) {
  const find = db.prepare(SQL.FIND_SUMMED_USAGE).raw()
  const setNested = db.prepare(SQL.SET_NESTED_USAGE)

  return (
    call: SummedCall,
    sumOf: (model: string, stored: UsageCounters | null) => UsageCounters | null,
    belowOf: (stored: UsageSum) => UsageSum,
  ): void => {
    const { call_key } = call
    const rows = find.all({ call_key }) as unknown[][]
    const reports = rows.map((row) => readReport(row))
    const stored = readBelow(rows[0] ?? [])
    const below = belowOf(stored)
    const bound = {
      call_key,
      below_input_tokens: below.input_tokens,
      below_output_tokens: below.output_tokens,
      bit: REPEATS_CHILDREN,
      repeats: repeatsChildren(reports, below) ? 1 : 0,
    }
    reports.forEach(({ model }, index) => {
      const sums = sumOf(model, readNested(rows[index] as unknown[]))
      setNested.run({ ...bound, model, ...(sums === null ? NO_SUMS : countersOf(sums)) })
    })
    const after = find.all({ call_key }) as unknown[][]
    if (!isSameCount(rows, after)) hours.recount(call.project_id, call_key, call.started_at_us)
    if (isNone(stored) !== isNone(below)) onLeaf(call.project_key, call.identity)
  }
}

function countersOf(sum: UsageCounters): UsageCounters {
  const counters = USAGE_COUNTERS.map((counter) => [counter, sum[counter]])
  return Object.fromEntries(counters) as UsageCounters
}

/** What the children of a call report, of all models together: each row of its usage has it. */
function readBelow(row: readonly unknown[]): UsageSum {
  const [input, output] = row.slice(USAGE_COLUMNS) as (number | null)[]
  return { input_tokens: input ?? 0, output_tokens: output ?? 0 }
}

function isNone({ input_tokens, output_tokens }: UsageSum): boolean {
  return input_tokens + output_tokens === 0
}

function isSameCount(before: readonly unknown[][], after: readonly unknown[][]): boolean {
  const [was, is] = [before, after].map((rows): CountedUsage[] =>
    rows.flatMap((row) => readCounted(row)),
  )
  return JSON.stringify(was) === JSON.stringify(is)
}

function shift(
  stored: UsageCounters | null,
  added: UsageCounters | undefined,
  sign: 1 | -1,
): UsageCounters | null {
  if (added === undefined) return stored
  const counters = USAGE_COUNTERS.map((counter) => [
    counter,
    cap((stored?.[counter] ?? 0) + sign * added[counter]),
  ])
  return Object.fromEntries(counters) as UsageCounters
}

function shiftSum(below: UsageSum, usage: readonly CallUsage[], sign: 1 | -1): UsageSum {
  const sum = { ...below }
  for (const { input_tokens, output_tokens } of usage) {
    sum.input_tokens = cap(sum.input_tokens + sign * input_tokens)
    sum.output_tokens = cap(sum.output_tokens + sign * output_tokens)
  }
  return sum
}

/** Sums stay integers that a double holds exactly. */
function cap(sum: number): number {
  return Math.max(0, Math.min(sum, Number.MAX_SAFE_INTEGER))
}
