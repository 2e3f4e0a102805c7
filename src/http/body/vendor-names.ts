/**
 * The two namings of the trace API: neutral names at `/`, the vendor's below `/traces`. Names inside the data of
 * users are never changed.
 */

/** Neutral name to vendor name. Spec: naming note (the interface's own names carry a vendor prefix). */
const VENDOR_NAMES = {
  svc_user_id: 'wb_user_id',
  svc_username: 'wb_username',
  svc_run_id: 'wb_run_id',
  svc_run_step: 'wb_run_step',
  svc_run_step_end: 'wb_run_step_end',
  svc_user_ids: 'wb_user_ids',
  svc_run_ids: 'wb_run_ids',
} as const

/** Keys whose values are data of users, in which nothing is renamed. */
const PAYLOADS = new Set([
  'attributes',
  'inputs',
  'output',
  'summary',
  'otel_dump',
  'payload',
  'val',
  'vals',
  'row',
  'rows',
  'costs',
  'usage',
  'call_usage',
  'annotation_payload',
  'scorer_tag_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_reasons',
  'scorer_rating_confidences',
  'group',
  'tag_counts',
  'rating_counts',
  'rating_sums',
  'window_stats',
  'custom_attrs_string',
  'custom_attrs_int',
  'custom_attrs_float',
  'custom_attrs_bool',
  '$literal',
])

/** Keys whose strings are names or dotted paths of fields. */
const FIELD_NAMES = new Set(['columns', 'expand_columns', 'fields', 'field', '$getField'])

/**
 * Values of `source`, also the absent one, for which the `key` of a ref names a field; with any other value it names
 * a user's attribute.
 */
const FIELD_SOURCES: ReadonlySet<unknown> = new Set(['field', 'column', undefined])

type Names = ReadonlyMap<string, string>

const toVendor: Names = new Map(Object.entries(VENDOR_NAMES))
const toNeutral: Names = new Map(
  Object.entries(VENDOR_NAMES).map(([ours, theirs]) => [theirs, ours]),
)

/** Returns a request body with neutral names. Values that need no renaming are shared with the input. */
export function toNeutralNames(body: unknown): unknown {
  return rename(body, toNeutral)
}

/** Returns a response with vendor names, also in the feedback that the server adds to summaries. */
export function toVendorNames<T>(response: T): T {
  return rename(response, toVendor) as T
}

/** Returns an error message, or the dotted path of a problem such as `start.wb_user_id`, with vendor names. */
export function toVendorText(text: string): string {
  return text.replace(/\bsvc_\w+/g, (name) => toVendor.get(name) ?? name)
}

function rename(value: unknown, names: Names): unknown {
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  if (Array.isArray(value)) return value.map((item) => rename(item, names))
  const isRef = FIELD_SOURCES.has((value as { source?: unknown }).source)
  const entries = Object.entries(value).map(([key, inner]) => [
    names.get(key) ?? key,
    isRef && key === 'key' ? renameFieldNames(inner, names) : renameUnder(key, inner, names),
  ])
  return Object.fromEntries(entries)
}

function renameUnder(key: string, value: unknown, names: Names): unknown {
  if (key === 'summary' && names === toVendor) return renameFeedback(value)
  // A column inside of user data, such as `payload.score`, is user data, too.
  if (PAYLOADS.has(key) || PAYLOADS.has(firstSegment(key))) return value
  if (FIELD_NAMES.has(key)) return renameFieldNames(value, names)
  return rename(value, names)
}

function renameFieldNames(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((item) => renameFieldNames(item, names))
  if (typeof value !== 'string') return renameColumn(rename(value, names), names)
  const first = firstSegment(value)
  return (names.get(first) ?? first) + value.slice(first.length)
}

/** Renames a column described in a response, where the name is a value. */
function renameColumn(column: unknown, names: Names): unknown {
  if (typeof column !== 'object' || column === null || !('name' in column)) return column
  return { ...column, name: renameFieldNames(column.name, names) }
}

/** Renames `summary.weave.feedback`, which the server adds: rows of feedback, except for their payloads. */
function renameFeedback(summary: unknown): unknown {
  const weave = (summary as { weave?: { feedback?: unknown } } | null | undefined)?.weave
  if (!Array.isArray(weave?.feedback)) return summary
  const feedback = rename(weave.feedback, toVendor)
  return { ...(summary as object), weave: { ...weave, feedback } }
}

function firstSegment(path: string): string {
  const dot = path.indexOf('.')
  return dot === -1 ? path : path.slice(0, dot)
}
