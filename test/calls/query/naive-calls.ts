/** A naive selection of calls: a filter and a sort over calls as a read returns them. */

// biome-ignore lint/suspicious/noExplicitAny: calls and expressions of every shape.
export type Any = any

/** Objects that refs of the calls lead to, by ref. */
type Objects = Readonly<Record<string, Any>>

/** Filters and sorts calls as a read returns them, each with its feedback, the newest last. */
export function selectNaively(calls: Any[], objects: Objects, request: Any): string[] {
  const { query, filter = {}, sort_by = [], limit, offset = 0, expand_columns = [] } = request
  const see = (one: Any) => (name: string) => valuesAt(one, name, expand_columns, objects)
  const found = calls
    .filter((one) => isIn(filter, one, calls))
    .filter((one) => !query || truth(values(query.$expr, see(one))) === true)
  const byStart = sort_by.length === 0 ? [{ field: 'started_at', direction: 'asc' }] : sort_by
  const last = byStart.at(-1)
  const id = { field: 'id', direction: last.field === 'started_at' ? last.direction : 'desc' }
  found.sort((left, right) => {
    for (const { field, direction } of [...byStart, id]) {
      const [a, b] = [left, right].map((one) => see(one)(field).at(-1))
      const sign = rank(a, b, direction === 'asc' ? 1 : -1)
      if (sign !== 0) return sign
    }
    return 0
  })
  return found.slice(offset, limit === undefined ? undefined : offset + limit).map((one) => one.id)
}

function isIn(filter: Any, one: Any, calls: Any[]): boolean {
  const isBelow = calls.some(({ id }) => id === one.parent_id)
  const lists = {
    trace_ids: 'trace_id',
    parent_ids: 'parent_id',
    thread_ids: 'thread_id',
    call_ids: 'id',
  }
  const matchesOp = (name: string) =>
    name.endsWith(':*') ? one.op_name.startsWith(name.slice(0, -1)) : one.op_name === name
  return (
    Object.entries(lists).every(
      ([list, name]) => !filter[list]?.length || filter[list].includes(one[name]),
    ) &&
    (!filter.op_names?.length || filter.op_names.some(matchesOp)) &&
    !(filter.trace_roots_only && isBelow)
  )
}

function at(one: Any, name: string): Any {
  return name
    .split('.')
    .reduce((inner, key) => (typeof inner === 'object' ? inner?.[key] : undefined), one)
}

/** The values of a field, [null] for none; only feedback has more than one. */
export function valuesAt(one: Any, name: string, expanded: string[], objects: Objects): Any[] {
  const [, type, path = ''] = /^feedback\.\[(.+?)\]\.(.+)$/.exec(name) ?? []
  if (type !== undefined) {
    const rows = one.feedback.filter((row: Any) => type === '*' || row.feedback_type === type)
    const known = rows
      .map((row: Any) => at(row, path) ?? null)
      .filter((value: Any) => value !== null)
    return known.length === 0 ? [null] : known
  }
  let inner = one
  let prefix = ''
  for (const key of name.split('.')) {
    // A body that is expanded and no ref itself stands for each of its members.
    const [body = ''] = prefix.split('.')
    const isMember = prefix.split('.').length === 2 && typeof one[body] === 'object'
    const isExpanded = expanded.includes(prefix) || (isMember && expanded.includes(body))
    if (isExpanded && typeof inner === 'string') inner = objects[inner]
    inner = typeof inner === 'object' ? inner?.[key] : undefined
    prefix = prefix === '' ? key : `${prefix}.${key}`
  }
  return [inner ?? null]
}

const KINDS = ['number', 'string', 'boolean', 'object']

function rank(left: Any, right: Any, sign: number): number {
  const isLeft = left !== null && left !== undefined
  const isRight = right !== null && right !== undefined
  if (!isLeft || !isRight) return Number(isRight) - Number(isLeft)
  const kinds = KINDS.indexOf(typeof left) - KINDS.indexOf(typeof right)
  if (kinds !== 0) return kinds
  const [a, b] =
    typeof left === 'object' ? [left, right].map((item) => JSON.stringify(item)) : [left, right]
  return a === b ? 0 : a < b ? -sign : sign
}

/** SQL's OR: true, else null where one is null, else false. */
function or(items: Any[]): boolean | null {
  if (items.includes(true)) return true
  return items.some((item) => item !== false) ? null : false
}

const not = (item: Any) => (item === true ? false : item === false ? true : null)
const truth = (items: Any[]) => or(items.map((item) => (typeof item === 'boolean' ? item : null)))

/** Times of a call are texts of one length, so that they compare as texts; numbers are seconds. */
function values(expr: Any, see: (name: string) => Any[]): Any[] {
  const [[op, operands]] = Object.entries(expr) as [[string, Any]]
  const truthOf = (item: Any) => truth(values(item, see))
  if (op === '$literal') return [operands]
  if (op === '$getField') return see(operands)
  if (op === '$and') return [not(or(operands.map((item: Any) => not(truthOf(item)))))]
  if (op === '$or') return [or(operands.map(truthOf))]
  if (op === '$not') return [not(truthOf(operands[0]))]
  if (op === '$convert') {
    const isInstant = isTime(operands.input)
    return values(operands.input, see).map((one) => converted(one, operands.to, isInstant))
  }
  if (op === '$contains') {
    const [substr] = values(operands.substr, see)
    const fold = (text: string) => (operands.case_insensitive ? text.toLowerCase() : text)
    const found = values(operands.input, see)
      .map((one) => converted(one, 'string', false))
      .map((text) => (text === null ? null : fold(text).includes(fold(String(substr)))))
    return [typeof substr !== 'string' ? null : substr === '' ? true : or(found)]
  }
  if (op === '$eq' && operands.some((side: Any) => side.$literal === null)) {
    const other = operands[0].$literal === null ? operands[1] : operands[0]
    return [values(other, see).every((one) => one === null)]
  }
  const pairs = op === '$in' ? operands[1].map((item: Any) => [operands[0], item]) : [operands]
  return [or(pairs.flatMap(([left, right]: Any[]) => compareAll(op, left, right, see)))]
}

const isTime = (side: Any) => /^(?:started|ended)_at$/.test(side?.$getField ?? '')

const JSON_NAME = /^(?:inputs|output|attributes|feedback|summary(?!\.weave))\b/

/** JSON numbers and booleans are texts beside a literal text. */
function beside(side: Any, value: Any, other: Any): Any {
  if (typeof other?.$literal !== 'string' || !JSON_NAME.test(side?.$getField ?? '')) return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function compareAll(op: string, first: Any, second: Any, see: (name: string) => Any[]): Any[] {
  const isInstant = isTime(first) || isTime(second)
  // A text that is no time: Date.parse takes "2" for one.
  const toSeconds = (text: string) => (/^\d{4}-/.test(text) ? Date.parse(text) / 1000 : Number.NaN)
  const seconds = (side: Any) => (isInstant && typeof side === 'string' ? toSeconds(side) : side)
  return values(first, see).flatMap((one) =>
    values(second, see).map((other) => {
      const [left, right] = [beside(first, one, second), beside(second, other, first)].map(seconds)
      if (left === null || right === null) return null
      if (isInstant && !(Number.isFinite(left) && Number.isFinite(right))) return null
      if (op === '$eq' || op === '$in') return JSON.stringify(left) === JSON.stringify(right)
      if (typeof left !== typeof right || typeof left === 'object') return null
      return { $gt: left > right, $gte: left >= right, $lt: left < right, $lte: left <= right }[op]
    }),
  )
}

function converted(input: Any, to: string, isTime: boolean): Any {
  if (to === 'exists') return input !== null
  if (input === null) return null
  if (to === 'string') return typeof input === 'string' ? input : JSON.stringify(input)
  if (to === 'bool') {
    if (typeof input === 'number') return input !== 0
    if (typeof input === 'boolean') return input
    return ({ true: true, '1': true, false: false, '0': false } as Any)[input] ?? null
  }
  const isNumeric = typeof input === 'string' ? /^-?\d+$/.test(input) : typeof input !== 'object'
  const number = isTime ? Date.parse(input) / 1000 : isNumeric ? Number(input) : null
  return number === null ? null : to === 'int' ? Math.trunc(number) : number
}
