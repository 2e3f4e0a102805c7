import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'
import { type Any, selectNaively, valuesAt } from './naive-calls.ts'

const PROJECT = 'acme/demo'

const time = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`

const leaf = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom('a', 'B', 'ab', '2', ''),
  fc.boolean(),
  fc.constant(null),
)

const REFS = ['a', 'b', 'c'].map((name) => `weave:///acme/demo/object/${name}:v0`)
const ref = fc.constantFrom(...REFS, 'weave:///acme/demo/object/none:v0', 'no ref', 2)

/** Objects of the project: each may lead to one that was made before it. */
const contents = fc.tuple(
  fc.record({ y: leaf }),
  fc.record({ y: leaf, in: fc.constantFrom(REFS[0], REFS[2], 'x') }),
  fc.record({ y: leaf, in: fc.constantFrom(REFS[0], REFS[1], 1) }),
)

const feedback = fc.record({
  feedback_type: fc.constantFrom('t.1', 't.2'),
  about: fc.integer({ min: 0, max: 5 }),
  payload: fc.record({ s: leaf }, { requiredKeys: [] }),
})

const call = fc.record({
  op_name: fc.constantFrom('f', 'g', 'weave:///acme/demo/op/f:1', 'weave:///acme/demo/op/f:2'),
  trace_id: fc.constantFrom('t1', 't2'),
  parent_id: fc.constantFrom('c0', 'c1', null),
  thread_id: fc.constantFrom('th', null),
  started: fc.integer({ min: 0, max: 4 }),
  lasts: fc.option(fc.integer({ min: 0, max: 3 })),
  inputs: fc.record(
    { x: leaf, r: ref, o: fc.record({ y: leaf, r: ref }, { requiredKeys: ['y'] }) },
    { requiredKeys: [] },
  ),
  output: fc.oneof(
    leaf,
    ref,
    fc.array(fc.oneof(leaf, ref), { maxLength: 2 }),
    fc.record({ r: ref }),
  ),
  exception: fc.constantFrom('Boom', null),
  usage: fc.dictionary(
    fc.constantFrom('gpt-4o', 'unpriced'),
    fc.record(
      { prompt_tokens: fc.nat(3), requests: fc.nat(1) },
      { requiredKeys: ['prompt_tokens'] },
    ),
    { maxKeys: 2, noNullPrototype: true },
  ),
})

const PATHS = [
  ...['id', 'op_name', 'parent_id', 'thread_id', 'exception', 'started_at', 'ended_at'],
  ...['inputs.x', 'inputs.o.y', 'inputs.o', 'output', 'output.0', 'summary.weave.status'],
  ...['summary.weave.latency_ms', 'attributes.none', 'svc_run_step'],
  'summary.weave.tree_error_count',
  ...['inputs.r', 'inputs.r.y', 'inputs.r.in', 'inputs.r.in.y', 'inputs.o.r', 'inputs.o.r.y'],
  ...['output.y', 'output.in.y', 'output.r.y', 'output.0.y'],
  ...['feedback.[t.1].payload.s', 'feedback.[*].payload.s', 'feedback.[t.2].feedback_type'],
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
/** Values that occur in a field, so that comparisons are not only between different types. */
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
  'inputs.r.y': leaf,
  'inputs.r.in.y': leaf,
  'inputs.o.r.y': leaf,
  'output.y': leaf,
  'output.r.y': leaf,
  'feedback.[t.1].payload.s': leaf,
  'feedback.[*].payload.s': leaf,
  'summary.weave.status': fc.constantFrom('success', 'error', 'running', 'descendant_error'),
  'summary.weave.tree_error_count': fc.nat(2),
  'summary.weave.tree_total_tokens': fc.nat(9),
  'summary.weave.tree_total_cost': fc.nat(9).map((tokens) => (tokens * 2.5) / 1e6),
  'summary.weave.latency_ms': fc.constantFrom(0, 1000, 2000),
}
const fittingPair = fc.constantFrom(...Object.keys(FITTING)).chain((name) =>
  fc.tuple(
    fc.constant({ $getField: name }),
    fc.oneof(
      { arbitrary: fc.nat(7).map((call) => ({ $valueOf: [name, call] })), weight: 3 },
      (FITTING[name] ?? leaf).map(($literal) => ({ $literal })),
    ),
  ),
)

/** Replaces `$valueOf` by the value of a field of one call, so that comparisons divide the calls. */
function fillIn(query: Any, seen: (name: string, call: number) => Any): Any {
  if (Array.isArray(query)) return query.map((item) => fillIn(item, seen))
  if (typeof query !== 'object' || query === null) return query
  if (query.$valueOf) return { $literal: seen(...(query.$valueOf as [string, number])) }
  const entries = Object.entries(query).map(([key, inner]) => [key, fillIn(inner, seen)])
  return Object.fromEntries(entries)
}
const comparison = fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte')

const { expression } = fc.letrec((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3 },
    {
      arbitrary: fc.tuple(comparison, fittingPair).map(([op, sides]) => ({ [op]: sides })),
      weight: 12,
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
      { arbitrary: fc.constant({}), weight: 3 },
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
    expand_columns: fc.constantFrom(
      ['inputs.r'],
      ['inputs.r.in', 'inputs.r'],
      ['inputs.r.in'],
      ['inputs', 'output'],
      ['inputs.r', 'inputs.o.r', 'output'],
      ['inputs.o.r', 'output.r', 'output.0'],
    ),
    limit: fc.integer({ min: 0, max: 10 }),
    offset: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: [] },
)

it('stream_query and query_stats answer as a naive filter and sort do', async () => {
  let asked = 0
  let telling = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 8, maxLength: 12 }),
      fc.array(query, { minLength: 12, maxLength: 12 }),
      contents,
      fc.array(feedback, { maxLength: 12 }),
      async (calls, queries, vals, feedbacks) => {
        const { app, deps, post } = await buildTestApp()
        const batch = calls.flatMap(
          ({ started, lasts, output, exception, usage, ...fields }, index) => {
            const ids = { project_id: PROJECT, id: `c${index}` }
            const start = { ...ids, ...fields, started_at: time(started), attributes: {} }
            const ended_at = time(started + (lasts ?? 0))
            const end = { ...ids, ended_at, output, exception, summary: { usage } }
            const parts = [{ mode: 'start', req: { start } }]
            return lasts === null ? parts : [...parts, { mode: 'end', req: { end } }]
          },
        )
        expect((await post('/call/upsert_batch', { batch })).body.errors).toEqual([])
        const read = await Promise.all(
          calls.map((_, index) =>
            post('/call/read', { project_id: PROJECT, id: `c${index}`, include_tree_usage: true }),
          ),
        )
        const objects: Record<string, Any> = {}
        for (const [at, val] of vals.entries()) {
          const name = 'abc'[at] as string
          await post('/obj/create', { obj: { project_id: PROJECT, object_id: name, val } })
          objects[REFS[at] as string] = val
        }
        const all = read.map(({ body }) => ({ ...body.call, feedback: [] as Any[] }))
        const batched = feedbacks.map(({ about, ...fields }, at) => {
          all[about]?.feedback.push(fields)
          const weave_ref = `weave:///${PROJECT}/call/c${about}`
          return {
            project_id: PROJECT,
            id: `f${String(at).padStart(2, '0')}`,
            weave_ref,
            ...fields,
          }
        })
        const created = await post('/traces/feedback/batch/create', { batch: batched })
        expect(created.body.errors).toEqual([])
        for (const drawn of queries) {
          const expanded = [...(drawn.expand_columns ?? [])]
          const one = fillIn(drawn, (name, at) => {
            const seen = all.flatMap((each) => valuesAt(each, name, expanded, objects))
            const plain = seen.filter((value) => typeof value !== 'object')
            return plain[at % plain.length] ?? null
          })
          const { text } = await post('/calls/stream_query', { project_id: PROJECT, ...one })
          const ids = text
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line).id)
          expect([one, ids]).toEqual([one, selectNaively(all, objects, one)])
          const { sort_by: _sort, offset: _offset, limit, ...which } = one
          const counted = {
            project_id: PROJECT,
            ...which,
            ...(limit === undefined ? {} : { limit }),
          }
          const matching = selectNaively(all, objects, which).length
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
  // Queries that match all or nothing prove little: the generators must make others, too.
  expect(telling / asked).toBeGreaterThan(0.2)
})
