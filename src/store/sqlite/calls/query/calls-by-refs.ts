/**
 * Evaluates calls without reading their texts: by their keys, and by the refs that were stored with their paths. Fields
 * behind such refs are equal for all calls with the same refs there, and are evaluated once.
 */
import type { CallJoins, ScannedCall } from '../../../../domain/calls/call-fields.ts'
import type { CallTexts } from '../../../../domain/calls/call-view.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import { refPathOf } from '../../../../domain/calls/expand-columns.ts'
import { refPath } from '../../../../domain/objects/refs.ts'
import { fieldPaths } from '../../../../domain/query/query-expression.ts'
import type { Connection } from '../../db/connection.ts'
import { FIND_REF_PATH } from '../columns/id-columns.sql.ts'
import { FIND_REF_TEXT, refColumn } from './calls-query.sql.ts'
import type { FoundKey, MoreColumns } from './calls-walk.ts'

/** Limit: cached combinations of refs; the cache is cleared when it is full. */
const KEPT_MAX = 50_000

/** Fields that are part of a call's key. */
const OF_KEY: ReadonlySet<string> = new Set(['id', 'project_id', 'started_at'])

type Path = readonly string[]

interface RefPlace {
  readonly body: 'inputs' | 'output'
  /** The path within the body. */
  readonly keys: Path
}

/** The values that calls with the same refs share. */
interface Alike {
  /** Their bodies, as far as the selection reads them. */
  readonly parsed: ScannedCall['parsed']
  /** Whether those without feedback meet the condition; null until evaluated. */
  truth: boolean | null
}

/** A call for which everything that the selection reads is known. */
interface KnownCall extends ScannedCall {
  readonly alike: Alike
}

export interface CallsByRefs extends MoreColumns {
  /** Returns the call, or null when its texts must be read. */
  see(key: FoundKey): KnownCall | null
  /** Whether the call meets the condition of the selection. */
  meets(call: KnownCall): boolean
}

/**
 * @param meets - the condition of the selection
 * @param columnsBefore - columns that precede those of refs in keys
 * @returns null when a field of the selection needs other columns or texts
 */
export function planByRefs(
  db: Connection,
  selection: CallsSelection,
  beside: CallJoins,
  meets: (call: ScannedCall) => boolean,
  columnsBefore: readonly string[],
): CallsByRefs | null {
  const { project_id, expression, sort } = selection
  const asked = expression === null ? [] : fieldPaths(expression)
  const places = findIndexes([...asked, ...sort.map(({ path }) => path)], beside)
  if (places === null) return null
  const parameters: Record<string, unknown> = {}
  for (const [at, { keys }] of places.entries()) {
    const path_key = db.prepare(FIND_REF_PATH).pluck().get(refPath(keys))
    // No call was stored with a ref at this path.
    if (path_key === undefined) return null
    parameters[`path_${at}`] = path_key
  }
  const isOfKey = asked.some(([first = '']) => OF_KEY.has(first))
  const asksFeedback = asked.some(([first]) => first === 'feedback')
  const alikeOf = createAlikes(db, places)
  const first = 3 + columnsBefore.length
  return {
    columns: [...columnsBefore, ...places.map(({ body }, at) => refColumn(body, `path_${at}`))],
    parameters,
    see(key) {
      const refs = key.slice(first) as (number | null)[]
      if (refs.includes(null)) return null
      const alike = alikeOf(refs as number[])
      const call: CallTexts = {
        ...NOTHING,
        project_id,
        id: key[2],
        started_at_us: key[1],
      }
      return { call, parsed: alike.parsed, beside, alike }
    },
    meets(call) {
      const isAlike = !isOfKey && !(asksFeedback && beside.feedbackOf(call.call).length > 0)
      if (!isAlike) return meets(call)
      call.alike.truth ??= meets(call)
      return call.alike.truth
    },
  }
}

/** Returns the paths of the refs of fields; null when a field is in neither key, refs nor feedback. */
function findIndexes(paths: readonly Path[], beside: CallJoins): readonly RefPlace[] | null {
  const places = new Map<string, RefPlace>()
  for (const [body = '', ...path] of paths) {
    if (body === 'feedback' || (OF_KEY.has(body) && path.length === 0)) continue
    const expansion = beside.expanded?.inner.get(body)
    if (!expansion || (body !== 'inputs' && body !== 'output')) return null
    const keys = refPathOf(path, expansion, body === 'output')
    if (keys === null) return null
    places.set(JSON.stringify([body, keys]), { body, keys })
  }
  return [...places.values()]
}

function createAlikes(db: Connection, places: readonly RefPlace[]) {
  const findRef = db.prepare(FIND_REF_TEXT).pluck()
  const alikes = new Map<string, Alike>()

  return (refs: readonly number[]): Alike => {
    const name = refs.join()
    const known = alikes.get(name)
    if (known) return known
    const bodies = {} as Record<'inputs' | 'output', unknown>
    for (const [at, { body, keys }] of places.entries()) {
      bodies[body] = withRef(bodies[body], keys, findRef.get(refs[at]))
    }
    const alike: Alike = { parsed: bodies, truth: null }
    if (alikes.size === KEPT_MAX) alikes.clear()
    alikes.set(name, alike)
    return alike
  }
}

/** Returns a body with one more ref at this path. */
function withRef(body: unknown, [key, ...rest]: Path, ref: unknown): unknown {
  if (key === undefined) return ref
  const members = (body ?? {}) as Record<string, unknown>
  return { ...members, [key]: withRef(members[key], rest, ref) }
}

/** Empty values for the fields that are not read. */
const NOTHING: CallTexts = {
  project_id: '',
  id: '',
  trace_id: '',
  parent_id: null,
  thread_id: null,
  turn_id: null,
  op_name: '',
  display_name: null,
  started_at_us: 0,
  ended_at_us: null,
  exception: null,
  svc_user_id: null,
  svc_username: null,
  svc_run_id: null,
  svc_run_step: null,
  svc_run_step_end: null,
  end_user_id: null,
  storage_size_bytes: 0,
  attributes_json: null,
  inputs_json: null,
  otel_dump_json: null,
  output_json: null,
  summary_json: null,
}
