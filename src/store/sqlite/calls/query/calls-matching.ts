/** Walks the calls of a selection that meet its condition. Reads only the bodies and texts that it needs. */
import {
  type Body,
  bodiesOfPaths,
  createCallTests,
  type ScannedCall,
} from '../../../../domain/calls/call-fields.ts'
import { type CallsSelection, pathsOfSelection } from '../../../../domain/calls/calls-query.ts'
import { isTreePath } from '../../../../domain/calls/tree-fields.ts'
import type { Connection } from '../../db/connection.ts'
import type { Checkpoint } from '../../read/read-job.ts'
import { createCallJoins } from './call-joins.ts'
import { openCallTrees } from './call-trees.ts'
import { type CallsByRefs, planByRefs } from './calls-by-refs.ts'
import { NAMED_COLUMNS, type NamedColumn, SIZE_COLUMN } from './calls-query.sql.ts'
import {
  type BoundedSelection,
  type CallsPosition,
  createCallReader,
  type FoundKey,
  walkKeys,
} from './calls-walk.ts'

/** Calls between two checkpoints. */
const CHUNK_CALLS = 256
/** Columns of keys after the id. */
const COLUMNS = [SIZE_COLUMN]

/** A call that meets the condition. */
interface MatchingCall {
  readonly seen: ScannedCall
  readonly key: FoundKey
  readonly storage_size_bytes: number
}

/** Columns from which a field of another name is computed. */
const READ_BY: Readonly<Record<string, readonly NamedColumn[]>> = {
  ended_at: ['ended_at_us'],
  // The columns behind summary.weave.
  summary: ['ended_at_us', 'exception', 'display_name', 'op_name'],
  feedback: ['project_id', 'id'],
}

/** Passes calls with the columns and bodies that the selection needs to `take`, until it returns false. */
export function walkMatching(
  db: Connection,
  selection: BoundedSelection,
  place: CallsPosition,
  checkpoint: Checkpoint,
  take: (call: MatchingCall) => boolean,
): Generator<void, void> {
  const trees = openCallTrees(db, selection, checkpoint)
  const joins = createCallJoins(db, selection)
  const beside = trees === null ? joins : { ...joins, treeOf: trees.treeOf }
  const { meets, needsTree, meetsByTree } = createCallTests(selection.expression, selection.sort)
  const read = createCallReader(db, ...wantedBy(selection), checkpoint)
  /** Calls whose descendants are still to be read. */
  const waiting: MatchingCall[] = []
  const takeOwn = trees === null ? take : (call: MatchingCall) => waiting.push(call) > 0

  const takeIf: TakeIf = (isMatch, seen, key) =>
    !isMatch || takeOwn({ seen, key, storage_size_bytes: key[3] ?? 0 })
  const readCalls: ReadCalls = (keys, before = () => true) =>
    read(keys, (call, key) => {
      const seen = { call, parsed: {}, beside }
      return before(key) && takeIf(meets(seen), seen, key)
    })
  const byRefs = planByRefs(db, selection, beside, meets, COLUMNS)
  const more = byRefs ?? { columns: COLUMNS, parameters: {} }
  const takeKeys = byRefs ? createMixedReader(byRefs, checkpoint, takeIf, readCalls) : readCalls
  const takeExpected: ReadCalls = (keys) => {
    joins.expect(keys)
    return takeKeys(keys)
  }

  const takeAll: ReadCalls = !trees
    ? takeExpected
    : function* takeByTrees(keys) {
        for (let from = 0; from < keys.length; from += CHUNK_CALLS) {
          yield* takeExpected(keys.slice(from, from + CHUNK_CALLS))
          const calls = waiting.splice(0)
          const seen = calls.map((call) => call.seen)
          yield* trees.load(seen.filter(needsTree).map(({ call }) => call))
          if (!calls.every((call) => !meetsByTree(call.seen) || take(call))) return false
        }
        return true
      }
  return walkKeys(db, selection, place, checkpoint, (keys) => takeAll(keys), more)
}

/** Passes a call on; returns false to end the walk. */
type TakeIf = (isMatch: boolean, seen: ScannedCall, key: FoundKey) => boolean

/** Reads calls and takes each, but first calls `before` with its key; returns false to end the walk. */
type ReadCalls = (
  keys: readonly FoundKey[],
  before?: (key: FoundKey) => boolean,
) => Generator<void, boolean>

/** Reads only the calls that their keys and refs do not decide, and takes all calls in order. */
function createMixedReader(
  byRefs: CallsByRefs,
  checkpoint: Checkpoint,
  takeIf: TakeIf,
  readCalls: ReadCalls,
): ReadCalls {
  function* takeChunk(keys: readonly FoundKey[]): Generator<void, boolean> {
    const known = keys.map((key) => byRefs.see(key))
    let at = 0

    function takeUpTo(end: number): boolean {
      for (; at < end; at++) {
        const call = known[at]
        if (call && !takeIf(byRefs.meets(call), call, keys[at] as FoundKey)) return false
      }
      return true
    }

    const unknown = keys.filter((_, place) => known[place] === null)
    const goesOn = yield* readCalls(unknown, (key) => takeUpTo(keys.indexOf(key, at)))
    return goesOn && takeUpTo(keys.length)
  }

  return function* takeKeys(keys) {
    for (let from = 0; from < keys.length; from += CHUNK_CALLS) {
      if (!(yield* takeChunk(keys.slice(from, from + CHUNK_CALLS)))) return false
      if (checkpoint()) yield
    }
    return true
  }
}

/** Returns the bodies and columns that a selection needs. */
function wantedBy(selection: CallsSelection) {
  const paths = pathsOfSelection(selection)
  const fields = new Set(paths.map(([first = '']) => first))
  const bodies = new Set<Body>(bodiesOfPaths(paths))
  const columns = new Set<NamedColumn>(NAMED_COLUMNS.filter((name) => fields.has(name)))
  for (const field of fields) for (const name of READ_BY[field] ?? []) columns.add(name)
  if (paths.some(isTreePath)) columns.add('id').add('trace_id')
  return [bodies, columns] as const
}
