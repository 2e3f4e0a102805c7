import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'

const PROJECT = 'acme/demo'

// biome-ignore lint/suspicious/noExplicitAny: calls and expressions of every shape.
type Any = any

const time = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`

const leaf = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom('a', 'B', 'ab', '2', ''),
  fc.boolean(),
  fc.constant(null),
)

const call = fc.record({
  op_name: fc.constantFrom('f', 'g', 'weave:///acme/demo/op/f:1', 'weave:///acme/demo/op/f:2'),
  trace_id: fc.constantFrom('t1', 't2'),
  parent_id: fc.constantFrom('c0', 'c1', null),
  thread_id: fc.constantFrom('th', null),
  started: fc.integer({ min: 0, max: 4 }),
  lasts: fc.option(fc.integer({ min: 0, max: 3 })),
  inputs: fc.record({ x: leaf, o: fc.record({ y: leaf }) }, { requiredKeys: [] }),
  output: fc.oneof(leaf, fc.array(leaf, { maxLength: 2 })),
  exception: fc.constantFrom('Boom', null),
})

const PATHS = [
  ...['id', 'op_name', 'parent_id', 'thread_id', 'exception', 'started_at', 'ended_at'],
  ...['inputs.x', 'inputs.o.y', 'inputs.o', 'output', 'output.0', 'summary.weave.status'],
  ...['summary.weave.latency_ms', 'attributes.none', 'svc_run_step'],
]
const path = fc.constantFrom(...PATHS)
const literal = fc
  .oneof(leaf, fc.integer({ min: 0, max: 4 }).map(time))
  .map(($literal) => ({ $literal }))
const field = path.map(($getField) => ({ $getField }))
const operand = fc.oneof(
  { arbitrary: field, weight: 3 },
  literal,
  fc.record({
    $convert: fc.record({
      input: field,
      to: fc.constantFrom('double', 'string', 'int', 'bool', 'exists'),
    }),
  }),
)
/** Values that a field really takes, so that comparisons are not of unlike things alone. */
const FITTING: Record<string, fc.Arbitrary<unknown>> = {
  id: fc.integer({ min: 0, max: 11 }).map((n) => `c${n}`),
  op_name: fc.constantFrom('f', 'g'),
  parent_id: fc.constantFrom('c0', 'c1', null),
  exception: fc.constantFrom('Boom', null),
  started_at: fc.integer({ min: 0, max: 4 }).map(time),
  ended_at: fc.integer({ min: 0, max: 7 }).map(time),
  'inputs.x': leaf,
  'inputs.o.y': leaf,
  output: leaf,
  'summary.weave.status': fc.constantFrom('success', 'error', 'running'),
  'summary.weave.latency_ms': fc.constantFrom(0, 1000, 2000),
}
const fittingPair = fc.constantFrom(...Object.keys(FITTING)).chain((name) =>
  fc.tuple(
    fc.constant({ $getField: name }),
    (FITTING[name] ?? leaf).map(($literal) => ({ $literal })),
  ),
)
const comparison = fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte')

const { expression } = fc.letrec((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3 },
    {
      arbitrary: fc.tuple(comparison, fittingPair).map(([op, sides]) => ({ [op]: sides })),
      weight: 6,
    },
    fc
      .tuple(fittingPair, fc.array(literal, { maxLength: 2 }))
      .map(([[left, right], more]) => ({ $in: [left, [...more, right]] })),
    fc
      .tuple(fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte'), operand, literal)
      .map(([op, left, right]) => ({ [op]: [left, right] })),
    fc.tuple(operand, fc.array(literal, { maxLength: 3 })).map(($in) => ({ $in })),
    fc.record({
      $contains: fc.record({ input: operand, substr: literal, case_insensitive: fc.boolean() }),
    }),
    fc.array(tie('expression'), { maxLength: 3 }).map(($and) => ({ $and })),
    fc.array(tie('expression'), { maxLength: 3 }).map(($or) => ({ $or })),
    tie('expression').map((item) => ({ $not: [item] })),
  ),
}))

const query = fc.record(
  {
    query: expression.map(($expr) => ({ $expr })),
    filter: fc.oneof(
      { arbitrary: fc.constant({}), weight: 2 },
      fc.record(
        {
          op_names: fc.subarray(['f', 'weave:///acme/demo/op/f:*']),
          trace_ids: fc.subarray(['t1', 't2']),
          parent_ids: fc.subarray(['c0', 'c9']),
          thread_ids: fc.subarray(['th']),
          call_ids: fc.subarray(['c0', 'c1', 'c2', 'c3']),
          trace_roots_only: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    ),
    sort_by: fc.array(fc.record({ field: path, direction: fc.constantFrom('asc', 'desc') }), {
      maxLength: 2,
    }),
    limit: fc.integer({ min: 0, max: 10 }),
    offset: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: [] },
)

/** The naive answer: filter and sort calls as a read shows them. */
function answer(
  calls: Any[],
  { query, filter = {}, sort_by = [], limit, offset = 0 }: Any,
): string[] {
  const found = calls
    .filter((one) => isIn(filter, one))
    .filter((one) => !query || value(query.$expr, one) === true)
  const byStart = sort_by.length === 0 ? [{ field: 'started_at', direction: 'asc' }] : sort_by
  const last = byStart.at(-1)
  const id = { field: 'id', direction: last.field === 'started_at' ? last.direction : 'desc' }
  found.sort((left, right) => {
    for (const { field, direction } of [...byStart, id]) {
      const sign = rank(at(left, field), at(right, field), direction === 'asc' ? 1 : -1)
      if (sign !== 0) return sign
    }
    return 0
  })
  return found.slice(offset, limit === undefined ? undefined : offset + limit).map((one) => one.id)
}

function isIn(filter: Any, one: Any): boolean {
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
    !(filter.trace_roots_only && one.parent_id !== null)
  )
}

function at(one: Any, name: string): Any {
  return name
    .split('.')
    .reduce((inner, key) => (typeof inner === 'object' ? inner?.[key] : undefined), one)
}

const KINDS = ['number', 'string', 'boolean', 'object']

function rank(left: Any, right: Any, sign: number): number {
  const isLeft = left !== null && left !== undefined
  const isRight = right !== null && right !== undefined
  if (!isLeft || !isRight) return Number(isRight) - Number(isLeft)
  const kinds = KINDS.indexOf(typeof left) - KINDS.indexOf(typeof right)
  if (kinds !== 0) return kinds * sign
  const [a, b] =
    typeof left === 'object' ? [left, right].map((item) => JSON.stringify(item)) : [left, right]
  return a === b ? 0 : a < b ? -sign : sign
}

/** Times of a call are texts of one length, so that they compare as texts; numbers are seconds. */
function value(expr: Any, one: Any): Any {
  const [[op, operands]] = Object.entries(expr) as [[string, Any]]
  const isTime = (side: Any) => /^(?:started|ended)_at$/.test(side?.$getField ?? '')
  if (op === '$literal') return operands
  if (op === '$getField') return at(one, operands) ?? null
  if (op === '$and') return operands.every((item: Any) => value(item, one) === true)
  if (op === '$or') return operands.some((item: Any) => value(item, one) === true)
  if (op === '$not') return value(operands[0], one) !== true
  if (op === '$convert')
    return converted(value(operands.input, one), operands.to, isTime(operands.input))
  if (op === '$contains') {
    const input = converted(value(operands.input, one), 'string', false)
    const substr = value(operands.substr, one)
    if (input === null || typeof substr !== 'string') return false
    const fold = (text: string) => (operands.case_insensitive ? text.toLowerCase() : text)
    return fold(input).includes(fold(substr))
  }
  const pairs = op === '$in' ? operands[1].map((item: Any) => [operands[0], item]) : [operands]
  return pairs.some(([first, second]: Any[]) => {
    let [left, right] = [value(first, one), value(second, one)]
    if ((isTime(first) && left !== null) || isTime(second)) {
      if (typeof right === 'string') right = Date.parse(right) / 1000
      if (typeof left === 'string') left = Date.parse(left) / 1000
      if (Number.isNaN(right) || Number.isNaN(left)) return false
    }
    if (op === '$eq' || op === '$in') return JSON.stringify(left) === JSON.stringify(right)
    if (typeof left !== typeof right || typeof left === 'object') return false
    return { $gt: left > right, $gte: left >= right, $lt: left < right, $lte: left <= right }[op]
  })
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

it('stream_query and query_stats answer as a naive filter and sort do', async () => {
  let asked = 0
  let telling = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 8, maxLength: 12 }),
      fc.array(query, { minLength: 12, maxLength: 12 }),
      async (calls, queries) => {
        const { app, deps, post } = await buildTestApp()
        const batch = calls.flatMap(({ started, lasts, output, exception, ...fields }, index) => {
          const ids = { project_id: PROJECT, id: `c${index}` }
          const start = { ...ids, ...fields, started_at: time(started), attributes: {} }
          const end = { ...ids, ended_at: time(started + (lasts ?? 0)), output, exception }
          const parts = [{ mode: 'start', req: { start } }]
          return lasts === null ? parts : [...parts, { mode: 'end', req: { end } }]
        })
        expect((await post('/call/upsert_batch', { batch })).body.errors).toEqual([])
        const read = await Promise.all(
          calls.map((_, index) => post('/call/read', { project_id: PROJECT, id: `c${index}` })),
        )
        const all = read.map(({ body }) => body.call)
        for (const one of queries) {
          const { text } = await post('/calls/stream_query', { project_id: PROJECT, ...one })
          const ids = text
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line).id)
          expect([one, ids]).toEqual([one, answer(all, one)])
          const { sort_by: _sort, offset: _offset, limit, ...which } = one
          const counted = {
            project_id: PROJECT,
            ...which,
            ...(limit === undefined ? {} : { limit }),
          }
          const matching = answer(all, which).length
          asked += Number(one.query !== undefined)
          telling += Number(one.query !== undefined && matching > 0 && matching < all.length)
          const count = Math.min(matching, limit ?? matching)
          const stats = (await post('/calls/query_stats', counted)).body
          expect(stats).toMatchObject({ count, has_more: matching > count })
        }
        await app.close()
        await deps.close()
      },
    ),
    { numRuns: 25 },
  )
  // Queries that take all or nothing tell little: the generators must make others too.
  expect(telling / asked).toBeGreaterThan(0.2)
})
