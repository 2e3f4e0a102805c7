/** Fields of a call that are derived from its descendants: which read what, and which conditions need them. Pure. */
import { type Expression, fieldPaths } from '../query/query-expression.ts'

/** What is read of the descendants of calls: which of them failed, or also what they used. */
type TreeNeed = 'errors' | 'usage'

/**
 * Members of summary.weave.
 *
 * Spec: §2.7 (queries are an addition). Choice: as `include_tree_usage` shows them, whether it is set or not.
 */
const NEEDS: Readonly<Record<string, TreeNeed>> = {
  status: 'errors',
  tree_error_count: 'errors',
  tree_usage: 'usage',
  tree_total_tokens: 'usage',
  tree_total_cost: 'usage',
}

/** What a field reads of the descendants; null: nothing. */
function treeNeedOf([first, second, third = '']: readonly string[]): TreeNeed | null {
  if (first !== 'summary' || second !== 'weave' || !Object.hasOwn(NEEDS, third)) return null
  return NEEDS[third] ?? null
}

/** Whether a field is derived from the descendants of its call. */
export function isTreePath(path: readonly string[]): boolean {
  return treeNeedOf(path) !== null
}

/** Whether a field is the status of a call, which descendants change only where one of them failed. */
export function isStatusPath(path: readonly string[]): boolean {
  return isTreePath(path) && path[2] === 'status'
}

/** Whether a field is priced. */
export function isTreeCostPath(path: readonly string[]): boolean {
  return treeNeedOf(path) === 'usage' && path[2] !== 'tree_total_tokens'
}

/** What several fields read of the descendants, usage before errors; null: nothing. */
export function treeNeedOfPaths(paths: readonly (readonly string[])[]): TreeNeed | null {
  const needs = paths.map(treeNeedOf)
  return needs.includes('usage') ? 'usage' : needs.includes('errors') ? 'errors' : null
}

interface SplitCondition {
  /** The part that is decided by the call alone; null: every call meets it. */
  readonly own: Expression | null
  /** The part that is decided by its descendants, too; null: every call meets it. */
  readonly ofTree: Expression | null
}

/** Splits a condition, so that descendants are read only of calls that may meet it. A call must meet both parts. */
export function splitByTrees(expression: Expression | null): SplitCondition {
  const parts = expression === null ? [] : conjunctsOf(expression)
  const isOfTree = (part: Expression) => fieldPaths(part).some(isTreePath)
  return {
    own: joined(parts.filter((part) => !isOfTree(part))),
    ofTree: joined(parts.filter(isOfTree)),
  }
}

function conjunctsOf(expression: Expression): readonly Expression[] {
  return expression.op === '$and' ? expression.items.flatMap(conjunctsOf) : [expression]
}

function joined(items: readonly Expression[]): Expression | null {
  return items.length === 0 ? null : { op: '$and', items }
}
