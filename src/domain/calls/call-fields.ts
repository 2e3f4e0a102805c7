/** The fields of a call that queries read: columns, bodies, targets of refs in the bodies, and feedback. Pure. */
import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { FEEDBACK_FIELDS, type FeedbackRow, feedbackField } from '../feedback/feedback-view.ts'
import { renderCallCosts } from '../prices/cost.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { type Expression, fieldPaths } from '../query/query-expression.ts'
import { createMatcher } from '../query/query-matcher.ts'
import { severalValues, timeValue, valueAt } from '../query/query-values.ts'
import type { RowQuery } from '../query/row-query.ts'
import { type CallTexts, derivedSummary, type TreeUsage, withOtelSpan } from './call-view.ts'
import { type Expansion, valueBehindRefs } from './expand-columns.ts'
import { isStatusPath, isTreePath, splitByTrees } from './tree-fields.ts'

/** Fields of a call that are columns, under their names in the API. */
const COLUMNS = [
  'id',
  'project_id',
  'op_name',
  'display_name',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'exception',
  'svc_user_id',
  'svc_username',
  'end_user_id',
  'svc_run_id',
  'svc_run_step',
  'svc_run_step_end',
  'storage_size_bytes',
] as const

/** Fields of a call that are JSON. */
export const BODIES = ['attributes', 'inputs', 'output', 'summary'] as const
export type Body = (typeof BODIES)[number]

/** Fields of a call that a query may name. */
export const CALL_FIELDS: ReadonlySet<string> = new Set([
  ...COLUMNS,
  ...BODIES,
  'started_at',
  'ended_at',
])

/** Fields that a query may name: those of the call, and of the feedback about it. */
export const QUERYABLE_FIELDS: ReadonlySet<string> = new Set([...CALL_FIELDS, 'feedback'])

/** Data of other tables that fields of a call are read from. */
export interface CallJoins {
  readonly expanded: Expansion | null
  /** The target of a ref; undefined when it has none. */
  readRef(ref: string): unknown
  /** Feedback about a call, the oldest first. */
  feedbackOf(call: CallTexts): readonly FeedbackRow[]
  /** The prices of tokens; null when no cost is needed. */
  readonly prices: PriceTable | null
  /** Payloads of feedback that were parsed before. */
  readonly payloads: WeakMap<FeedbackRow, unknown>
  /** What is known of the descendants of a call; null: nothing. Absent where no field needs it. */
  readonly treeOf?: (call: TreeTop) => TreeUsage | null
}

/** What identifies a call with its descendants. */
export type TreeTop = Pick<CallTexts, 'id' | 'trace_id'>

/** A call of a scan; `parsed` holds the bodies that were parsed. */
export interface ScannedCall {
  readonly call: CallTexts
  readonly parsed: Partial<Record<Body, unknown>>
  /** Joined data; without it no ref is followed, and there is neither feedback nor a cost. */
  readonly beside?: CallJoins
}

/** The value of a call's field; undefined when there is none. Numbers are doubles. */
export function callField(scanned: ScannedCall, path: readonly string[]): unknown {
  const { call, parsed, beside } = scanned
  const [first = '', ...rest] = path
  const body = BODIES.find((name) => name === first)
  if (body) {
    if (!(body in parsed)) parsed[body] = parseBody(call, body)
    if (beside?.treeOf && isTreePath(path)) {
      const summary = parsed.summary as JsonObject
      const weave = derivedSummary({ ...call, summary }, { tree: beside.treeOf(call) })
      return valueAt(weave, path.slice(2))
    }
    if (beside?.prices && isCostPath(path)) {
      parsed.attributes ??= parseBody(call, 'attributes')
      const { attributes, summary } = parsed
      const priced = { attributes, summary: summary as JsonObject }
      const costs = renderCallCosts({ ...call, ...priced }, beside.prices)
      return valueAt(costs, path.slice(2))
    }
    const expansion = beside?.expanded?.inner.get(body)
    if (!beside || !expansion) return valueAt(parsed[body], rest)
    return valueBehindRefs(parsed[body], rest, expansion, beside.readRef)
  }
  if (first === 'feedback') return beside ? feedbackValues(call, rest, beside) : undefined
  if (rest.length > 0) return undefined
  if (first === 'started_at') return timeValue(call.started_at_us)
  if (first === 'ended_at') return timeValue(call.ended_at_us)
  return call[first as (typeof COLUMNS)[number]]
}

/**
 * Whether a path refers to the cost of a call.
 *
 * Spec: §2.7 (queries are an addition). Choice: `summary.weave.total_cost` and `summary.weave.costs.<model>.<field>`,
 * as `include_costs` shows them.
 */
export function isCostPath([first, second, third]: readonly string[]): boolean {
  return first === 'summary' && second === 'weave' && (third === 'costs' || third === 'total_cost')
}

interface CallTests {
  /** Whether a call meets what it decides by itself. */
  readonly meets: (call: ScannedCall) => boolean
  /** Whether the descendants of such a call decide if it is listed, or where. */
  readonly needsTree: (call: ScannedCall) => boolean
  /** Whether it meets the rest, once the descendants that it needs are known. */
  readonly meetsByTree: (call: ScannedCall) => boolean
}

/** Returns the tests of a condition, which a call must meet; null is met by every call. */
export function createCallTests(
  expression: Expression | null,
  sort: RowQuery['sort'] = [],
): CallTests {
  const { own, ofTree } = splitByTrees(expression)
  const meetsByTree = createTest(ofTree)
  const isSortedByTree = sort.some(({ path }) => isTreePath(path))
  // Of failed descendants, a status shows only whether there are any.
  const readsOnlyStatus =
    ofTree !== null && fieldPaths(ofTree).filter(isTreePath).every(isStatusPath)

  function meetsWith(call: ScannedCall, failedDescendants: number): boolean {
    if (!call.beside) return meetsByTree(call)
    const treeOf = () => ({ byModel: null, failedDescendants })
    return meetsByTree({ ...call, beside: { ...call.beside, treeOf } })
  }

  return {
    meets: createTest(own),
    needsTree(call) {
      if (!readsOnlyStatus) return true
      const [without, withFailed] = [meetsWith(call, 0), meetsWith(call, 1)]
      return isSortedByTree ? without || withFailed : without !== withFailed
    },
    meetsByTree,
  }
}

function createTest(condition: Expression | null): (call: ScannedCall) => boolean {
  if (condition === null) return () => true
  const matches = createMatcher(condition)
  return (call) => matches((path) => callField(call, path))
}

/** The bodies that contain the fields at some paths, or from which they are computed. */
export function bodiesOfPaths(paths: readonly (readonly string[])[]): Body[] {
  const isPriced = paths.some(isCostPath)
  return BODIES.filter(
    (body) => paths.some(([first]) => first === body) || (isPriced && body === 'attributes'),
  )
}

/** A field of each feedback of a type, the newest last. */
function feedbackValues(
  call: CallTexts,
  [type, ...path]: readonly string[],
  { feedbackOf, payloads }: CallJoins,
): unknown {
  const rows = feedbackOf(call).filter((row) => type === '*' || row.feedback_type === type)
  return severalValues(rows.map((row) => feedbackField(row, path, payloads)))
}

/**
 * Refuses unknown names of feedback fields.
 *
 * Spec: §2.7 (queries are an addition). Choice: the vendor's `feedback.[<type>].<field>`, `*` for any type. A call
 * meets a comparison when one of its feedbacks does; the newest one decides a sort.
 *
 * @throws ApiError query_invalid
 */
export function requireFeedbackPaths(paths: readonly (readonly string[])[], param: string): void {
  for (const [first, , field] of paths) {
    if (first !== 'feedback' || FEEDBACK_FIELDS.some((name) => name === field)) continue
    const message = `${param}: name feedback as feedback.[<type>].<field>; fields are ${FEEDBACK_FIELDS.join(', ')}.`
    throw new ApiError('query_invalid', { param, message })
  }
}

/** A body as a read shows it, without costs and feedback. */
function parseBody(call: CallTexts, body: Body): unknown {
  switch (body) {
    case 'output':
      return JSON.parse(call.output_json ?? 'null')
    case 'inputs':
      return JSON.parse(call.inputs_json ?? '{}')
    case 'attributes':
      return withOtelSpan(
        JSON.parse(call.attributes_json ?? '{}'),
        JSON.parse(call.otel_dump_json ?? 'null'),
      )
    case 'summary': {
      const summary = JSON.parse(call.summary_json ?? '{}')
      return { ...summary, weave: derivedSummary({ ...call, summary }, {}) }
    }
    default:
      return body satisfies never
  }
}
