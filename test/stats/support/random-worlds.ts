/** Random calls, written in random order, and questions about them: the server against the naive statistics. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Stores } from '../../../src/store/api/stores.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import {
  allGroupsBy,
  type Grouping,
  groupingsOf,
  naiveGroups,
  toGroupsBody,
} from './naive-groups.ts'
import { naiveStats, type Question, type RawCall, toStatsBody } from './naive-stats.ts'
import {
  BASE_US,
  idOf,
  priceFinder,
  type SentCall,
  type SentPrice,
  sentCall,
  sentPrice,
  toCosts,
  toParts,
  toRawCall,
} from './raw-calls.ts'
import { URL } from './stats-fixtures.ts'

const HOUR_US = 3600e6

const doc = 'weave:///acme/demo/object/doc'
const filter = fc.record(
  {
    op_names: fc.constantFrom(['a'], ['b:*'], ['b:*', 'a'], ['b:v1', 'b:v2'], []),
    input_refs: fc.constantFrom([`${doc}:v1`], [`${doc}:*`]),
    output_refs: fc.constantFrom([`${doc}:v3`], [`${doc}:v9`]),
    parent_ids: fc.constantFrom(['call-0'], ['call-0', 'call-1', 'call-2']),
    trace_ids: fc.constantFrom(['t1'], ['t1', 't2']),
    call_ids: fc.constantFrom(['call-0', 'call-3', 'call-5'], []),
    thread_ids: fc.constantFrom(['th1'], ['th1', 'th2']),
    turn_ids: fc.constant(['tu1']),
    trace_roots_only: fc.boolean(),
    svc_user_ids: fc.constantFrom(['u-1'], ['u-2'], ['u-1', 'u-2']),
    svc_run_ids: fc.constantFrom(['r1'], ['r1', 'r2']),
    end_user_ids: fc.constantFrom(['eu1'], ['eu1', 'eu2']),
  },
  { requiredKeys: [] },
)

/** Mostly few fields: a filter of all leaves nothing. */
const fewFields = fc
  .tuple(
    filter,
    fc.shuffledSubarray([
      'op_names',
      'trace_roots_only',
      'svc_user_ids',
      'svc_run_ids',
      'end_user_ids',
    ]),
    fc.nat(2),
  )
  .map(([all, preferred, count]) => {
    const names = [...preferred, ...Object.keys(all)].slice(0, count)
    return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
  })

const question: fc.Arbitrary<Question> = fc
  .record({
    startUs: fc.tuple(fc.integer({ min: -2, max: 50 }), fc.constantFrom(0, 11, 1800e6)),
    rangeUs: fc.oneof(
      fc.integer({ min: 1, max: 60 * 60 }).map((minutes) => minutes * 60e6 + 7),
      fc.constant(72 * HOUR_US),
    ),
    granularity: fc.constantFrom(
      300,
      600,
      3600,
      7200,
      21_600,
      86_400,
      2 * 86_400,
      7 * 86_400,
      5000,
    ),
    timezone: fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
    counting: fc.constantFrom(undefined, undefined, 'own' as const, 'reported' as const),
    filter: fc.oneof({ arbitrary: fewFields, weight: 4 }, { arbitrary: filter, weight: 1 }),
  })
  .map(({ startUs: [hours, us], rangeUs, ...rest }) => {
    const startUs = BASE_US + hours * HOUR_US + us
    return { startUs, endUs: startUs + rangeUs, ...rest } as Question
  })

/** What happens, in order; `call` is taken modulo the number of calls. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('whole' as const), call: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('start' as const), call: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('end' as const), call: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('rename' as const), call: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('delete' as const), call: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('price' as const), price: sentPrice }) },
  { weight: 3, arbitrary: fc.constant({ does: 'build' as const }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('ask' as const), question }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** What the server was told of a call. */
interface Known {
  hasStarted: boolean
  hasEnded: boolean
  isDeleted: boolean
}

interface World {
  readonly app: TestApp
  readonly keys: readonly string[]
  readonly project_id: string
  readonly calls: readonly SentCall[]
  readonly known: Map<number, Known>
  readonly prices: SentPrice[]
  /** Hours built. */
  readonly buildAll: () => Promise<number>
  readonly run: number
  /** Groupings that each question is asked with. */
  readonly groupings: number
  /** Questions so far. */
  asked: number
  /** Hours built so far. */
  built: number
}

function rawCalls({ calls, known }: World): RawCall[] {
  return [...known].flatMap(([index, { hasStarted, hasEnded, isDeleted }]) => {
    const call = calls[index] as SentCall
    if (!hasStarted || isDeleted) return []
    return [toRawCall(index, call, { svc_user_id: `u-${call.user + 1}`, hasEnded })]
  })
}

/** The call and all stored calls below it. */
function familyOf({ calls, known }: World, root: number): Set<number> {
  const family = new Set(known.has(root) ? [root] : [])
  for (const member of family) {
    for (const [index, { hasStarted }] of known) {
      if (hasStarted && calls[index]?.parent === member) family.add(index)
    }
  }
  return family
}

async function post(world: World, url: string, body: unknown, key?: string): Promise<void> {
  const { status, text } = await world.app.post(url, body, key ? { key } : {})
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
}

async function write(world: World, does: 'whole' | 'start' | 'end', index: number): Promise<void> {
  const call = world.calls[index] as SentCall
  const { start, end } = toParts(world.project_id, index, call)
  const key = world.keys[call.user]
  const before = world.known.get(index) ?? { hasStarted: false, hasEnded: false, isDeleted: false }
  if (does === 'whole') {
    const batch = [
      { mode: 'end', req: { end } },
      { mode: 'start', req: { start } },
    ]
    await post(world, '/call/upsert_batch', { batch }, key)
  } else {
    await post(world, `/call/${does}`, does === 'start' ? { start } : { end }, key)
  }
  const hasStarted = before.hasStarted || does !== 'end'
  const hasEnded = before.hasEnded || does !== 'start'
  world.known.set(index, { ...before, hasStarted, hasEnded })
}

async function remove(world: World, index: number): Promise<void> {
  const { project_id, known } = world
  await post(world, '/calls/delete', { project_id, call_ids: [idOf(index)] })
  for (const member of familyOf(world, index)) {
    known.set(member, { ...(known.get(member) as Known), isDeleted: true })
  }
}

async function rename(world: World, index: number): Promise<void> {
  const { project_id, known } = world
  const body = { project_id, call_id: idOf(index), display_name: 'new' }
  const { status } = await world.app.post('/call/update', body)
  expect(status).toBe(known.get(index)?.isDeleted ? 404 : 200)
  const unknown = { hasStarted: false, hasEnded: false, isDeleted: false }
  if (!known.has(index)) known.set(index, unknown)
}

/** Asks for groups of the same calls: all of them, some, and as a sort and a search choose. */
async function checkGroups(
  world: World,
  question: Question,
  groupings: readonly Grouping[],
): Promise<void> {
  const { project_id, prices } = world
  for (const grouping of groupings) {
    const { status, body } = await world.app.post(URL, toGroupsBody(project_id, question, grouping))
    expect([status, body.error]).toEqual([200, undefined])
    const expected = naiveGroups(rawCalls(world), question, priceFinder(prices), grouping)
    expect([grouping, body.groups]).toEqual([grouping, expected.groups])
    expect([grouping, body.other_groups]).toEqual([grouping, expected.other_groups])
  }
}

/** Asks twice: unchanged, where an answer may be cached, and with a new window. */
async function check(world: World, asked: Question): Promise<void> {
  world.asked += 1
  for (const question of [asked, { ...asked, endUs: asked.endUs + world.asked }]) {
    const { status, body } = await world.app.post(URL, toStatsBody(world.project_id, question))
    expect(status).toBe(200)
    // Buckets are longer where the response would have too many values.
    expect(body.granularity).toBeGreaterThanOrEqual(question.granularity)
    const answered = { ...question, granularity: body.granularity }
    const expected = naiveStats(rawCalls(world), answered, priceFinder(world.prices))
    expect(body.call_buckets).toEqual(expected.call_buckets)
    expect(body.usage_buckets).toEqual(expected.usage_buckets)
  }
  await checkGroups(world, asked, groupingsOf(world.run + world.asked, world.groupings))
}

/** Asks for all groups by what hours are built by, in a window with all of the hours, in one of several ways. */
async function checkBuiltGroups(world: World): Promise<void> {
  const startUs = BASE_US - 1
  const all = { startUs, endUs: BASE_US + 72 * HOUR_US, granularity: 3600, timezone: 'UTC' }
  const windows: Question[] = [
    { ...all, filter: {} },
    { ...all, filter: {}, counting: 'reported' },
    { ...all, filter: { op_names: ['b:*', 'a'] } },
    { ...all, filter: { op_names: ['b'] }, counting: 'reported' },
  ]
  const groupings = ['op_name', 'model', 'provider'].map(allGroupsBy)
  await checkGroups(world, windows[world.run % windows.length] as Question, groupings)
}

async function build(world: World): Promise<void> {
  world.built += await world.buildAll()
}

async function perform(world: World, step: Step): Promise<void> {
  if (step.does === 'build') return build(world)
  if (step.does === 'ask') return check(world, step.question)
  if (step.does === 'price') {
    await post(world, '/cost/create', toCosts(world.project_id, step.price))
    world.prices.push(step.price)
    return
  }
  const index = step.call % world.calls.length
  if (step.does === 'delete') return remove(world, index)
  if (step.does === 'rename') return rename(world, index)
  return write(world, step.does, index)
}

/**
 * Has stores answer as the naive statistics do, whatever is written in between.
 *
 * @param buildAll - makes what statistics keep; hours of stored calls are among it
 * @param groupings - how many of the fields each question is grouped by
 */
export async function proveStats(
  stores: Pick<Stores, 'calls' | 'stats' | 'prices'>,
  buildAll: () => Promise<number>,
  numRuns: number,
  groupings: number,
): Promise<void> {
  const { calls, stats, prices } = stores
  const app = await buildTestApp({}, { calls, stats, prices })
  const rights = { scopes: ['traces:read', 'traces:write'] as const, projects: ['*'] }
  const createKey = async (user: string) =>
    (await app.deps.keys.createKey({ ...rights, svc_user_id: user, svc_username: user })).secret
  const keys = await Promise.all(['u-1', 'u-2'].map(createKey))
  let run = 0
  const property = fc.asyncProperty(
    fc.array(sentCall, { minLength: 1, maxLength: 16 }),
    fc.array(step, { maxLength: 40 }),
    question,
    async (calls, steps, last) => {
      run += 1
      const world: World = {
        app,
        keys,
        calls,
        project_id: `acme/run-${run}`,
        known: new Map(),
        prices: [],
        run,
        groupings,
        asked: 0,
        built: 0,
        buildAll,
      }
      for (const step of steps) await perform(world, step)
      await check(world, last)
      await build(world)
      await check(world, last)
      await checkBuiltGroups(world)
      // Else nothing but rows was read.
      if (rawCalls(world).length > 0) expect(world.built).toBeGreaterThan(0)
    },
  )
  // Shrinking a failure takes longer than the test may, which would hide it.
  await fc.assert(property, { numRuns, endOnFailure: true })
}
