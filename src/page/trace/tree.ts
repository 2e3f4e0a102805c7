/** The calls of a trace as a tree, in the order in which they are drawn. Pure. */
import { type Call, factsOf } from '../api/wire.ts'

export interface Node {
  readonly call: Call
  readonly depth: number
  readonly children: Node[]
  /** Number of calls, and of failed ones, in this call and below it. */
  calls: number
  errors: number
}

/**
 * Builds the trees of a trace. A call whose parent is missing is a root, and so is one call of each cycle of parents.
 *
 * @param calls - in order of their starts
 */
export function buildTrees(calls: readonly Call[]): Node[] {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const below = new Map<string, Call[]>()
  const roots: Call[] = []
  for (const call of calls) {
    const { parent_id } = call
    if (parent_id === null || !byId.has(parent_id)) roots.push(call)
    else if (!below.get(parent_id)?.push(call)) below.set(parent_id, [call])
  }
  const seen = new Set<string>()
  const trees = roots.map((call) => buildNode(call, below, seen))
  for (const call of calls) if (!seen.has(call.id)) trees.push(buildNode(call, below, seen))
  return trees
}

/** Without recursion: a trace may be as deep as it is long. */
function buildNode(root: Call, below: ReadonlyMap<string, Call[]>, seen: Set<string>): Node {
  const top = newNode(root, 0)
  seen.add(root.id)
  const order: Node[] = [top]
  for (let at = 0; at < order.length; at++) {
    const node = order[at] as Node
    for (const call of below.get(node.call.id) ?? []) {
      if (seen.has(call.id)) continue
      seen.add(call.id)
      const child = newNode(call, node.depth + 1)
      node.children.push(child)
      order.push(child)
    }
  }
  for (const node of order.reverse()) {
    for (const child of node.children) {
      node.calls += child.calls
      node.errors += child.errors
    }
  }
  return top
}

function newNode(call: Call, depth: number): Node {
  const errors = factsOf(call).status === 'error' ? 1 : 0
  return { call, depth, children: [], calls: 1, errors }
}

/** The visible rows of the trees from top to bottom, without those below folded calls. */
export function listRows(trees: readonly Node[], folded: ReadonlySet<string>): Node[] {
  const rows: Node[] = []
  const waiting = [...trees].reverse()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    rows.push(node)
    if (folded.has(node.call.id)) continue
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at] as Node)
  }
  return rows
}

/**
 * The ids of the calls whose name or error contains a text, ignoring case.
 *
 * @param text - not empty
 */
export function findCalls(calls: readonly Call[], text: string): string[] {
  const sought = text.toLowerCase()
  return calls
    .filter(({ op_name, display_name, exception }) =>
      `${display_name ?? ''}\n${op_name}\n${exception ?? ''}`.toLowerCase().includes(sought),
    )
    .map(({ id }) => id)
}

/** The ancestors of a call, the nearest first; each once, even in a cycle. */
export function parentsOf(calls: readonly Call[], id: string): string[] {
  const parents = new Map(calls.map((call) => [call.id, call.parent_id]))
  const above = new Set<string>()
  for (let at = parents.get(id); at && parents.has(at) && !above.has(at); at = parents.get(at))
    above.add(at)
  return [...above]
}

/**
 * Returns the id of the first failed call of which no call below failed: where a failure began. Null if none failed.
 *
 * @param rows - of the unfolded trees, from top to bottom
 */
export function firstErrorOf(rows: readonly Node[]): string | null {
  const failed = rows.filter(({ call }) => factsOf(call).status === 'error')
  const origin = failed.find(({ errors }) => errors === 1) ?? failed[0]
  return origin?.call.id ?? null
}

/**
 * Returns the id of the call that took the most time of its own, during which no call below it ran. Null without calls.
 *
 * @param lastMs - end of running calls
 */
export function slowestOf(rows: readonly Node[], lastMs: number): string | null {
  let [id, mostMs]: [string | null, number] = [null, -1]
  for (const node of rows) {
    const ms = ownMsOf(node, lastMs)
    if (ms > mostMs) [id, mostMs] = [node.call.id, ms]
  }
  return id
}

/** The time of a call without that of the calls directly below it, which may overlap. */
function ownMsOf({ call, children }: Node, lastMs: number): number {
  const { startMs, endMs } = spanOf(call, lastMs)
  let [ms, reached] = [endMs - startMs, startMs]
  const below = children.map((child) => spanOf(child.call, lastMs))
  for (const span of below.sort((left, right) => left.startMs - right.startMs)) {
    const [from, to] = [Math.max(span.startMs, reached), Math.min(span.endMs, endMs)]
    if (to <= from) continue
    ms -= to - from
    reached = to
  }
  return ms
}

export interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** When a call ran. A running call ends at the latest time in the trace; none ends before its start. */
export function spanOf({ started_at, ended_at }: Call, lastMs: number): Span {
  const startMs = Date.parse(started_at)
  return { startMs, endMs: Math.max(startMs, ended_at === null ? lastMs : Date.parse(ended_at)) }
}

/** From the first start to the last end. */
export function spanOfAll(calls: readonly Call[]): Span {
  let [startMs, endMs] = [Number.POSITIVE_INFINITY, 0]
  for (const call of calls) {
    const own = spanOf(call, 0)
    startMs = Math.min(startMs, own.startMs)
    endMs = Math.max(endMs, own.endMs)
  }
  return { startMs, endMs }
}
