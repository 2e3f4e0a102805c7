import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallParts } from '../../src/domain/calls/new-call.ts'
import { readUsage } from '../../src/domain/usage/usage.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/open.ts'
import {
  BASE_US,
  endOf,
  HOUR_US,
  PROJECT,
  startOf,
  type TestCall,
} from '../stats/support/segment-calls.ts'
import { readCaller } from '../support/read-caller.ts'

const MODELS = ['m', 'n'] as const
const HOURS = 4

interface Report {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly requests?: number
}
type Reports = Readonly<Record<string, Report>>

/** A call of a tree, what it spent itself, and what its client makes of that. */
const drawnCall = fc.record({
  /** Its parent is one of the calls before it. */
  parent: fc.nat(),
  hour: fc.nat(HOURS - 1),
  spent: fc.dictionary(
    fc.constantFrom(...MODELS),
    fc.record({ prompt_tokens: fc.nat(20), completion_tokens: fc.nat(9), requests: fc.nat(2) }),
    { maxKeys: 2, noNullPrototype: true },
  ),
  reports: fc.constantFrom(
    ...([
      'with its children',
      'with its children',
      'what it spent',
      'no requests',
      'nothing',
    ] as const),
  ),
})
type Drawn = typeof drawnCall extends fc.Arbitrary<infer T> ? T : never

/** What a client does with the parts of calls, in this order; a call is taken modulo their number. */
const move = fc.record({
  does: fc.constantFrom('start', 'end', 'both', 'both', 'delete', 'build', 'commit', 'commit'),
  call: fc.nat(),
})

interface Call extends TestCall {
  readonly reported: Reports
  readonly parent: string | null
}

/** Children come behind their parents, so that their reports are known when it is asked from the last on. */
function toCalls(drawn: readonly Drawn[]): Call[] {
  const parentOf = (index: number) => (index === 0 ? null : (drawn[index]?.parent ?? 0) % index)
  const reported: Reports[] = []
  for (let index = drawn.length - 1; index >= 0; index--) {
    const { spent, reports } = drawn[index] as Drawn
    const children = drawn.flatMap((_, child) =>
      parentOf(child) === index ? [reported[child]] : [],
    )
    reported[index] = reportOf(spent, reports, children as Reports[])
  }
  return drawn.map(({ hour }, index) => {
    const parent = parentOf(index)
    const parentId = parent === null ? null : `c${parent}`
    return {
      id: `c${index}`,
      startedUs: BASE_US + hour * HOUR_US + index,
      latencyUs: 5,
      op: 'op',
      user: 'u',
      run: null,
      isRoot: parentId === null,
      isError: false,
      parent: parentId,
      ...(parentId === null ? {} : { parentId }),
      reported: reported[index] as Reports,
      usage: readUsage({ usage: reported[index] }),
    }
  })
}

function reportOf(
  spent: Readonly<Record<string, Required<Report>>>,
  reports: Drawn['reports'],
  children: readonly Reports[],
): Reports {
  if (reports === 'nothing') return {}
  const all = reports === 'with its children' ? [spent, ...children] : [spent]
  const models = MODELS.filter((model) => all.some((one) => one[model]))
  return Object.fromEntries(
    models.map((model) => {
      const sum = (kind: keyof Report) =>
        all.reduce((sum, one) => sum + (one[model]?.[kind] ?? 0), 0)
      const tokens = {
        prompt_tokens: sum('prompt_tokens'),
        completion_tokens: sum('completion_tokens'),
      }
      return [model, reports === 'no requests' ? tokens : { ...tokens, requests: sum('requests') }]
    }),
  )
}

/** Input and output by model that a call used itself, as its report and those of the living tell. */
function naiveOwn(call: Call, living: readonly Call[]): Map<string, [number, number]> {
  const own = new Map<string, [number, number]>()
  if (isSum(call, living)) return own
  for (const [model, report] of Object.entries(call.reported)) {
    const children = living.flatMap(({ parent, reported }) =>
      parent === call.id && reported[model] ? [reported[model]] : [],
    )
    const sum = (kind: keyof Report) => children.reduce((sum, one) => sum + (one[kind] ?? 0), 0)
    const [input, output] = [sum('prompt_tokens'), sum('completion_tokens')]
    const holds =
      (report.requests ?? -1) >= sum('requests') &&
      report.prompt_tokens >= input &&
      report.completion_tokens >= output
    const taken = holds ? ([input, output] as const) : ([0, 0] as const)
    own.set(model, [report.prompt_tokens - taken[0], report.completion_tokens - taken[1]])
  }
  return own
}

/** Whether a call reports one model, and of it as much as its children of all models. */
function isSum(call: Call, living: readonly Call[]): boolean {
  const [report, ...more] = Object.values(call.reported)
  if (!report || more.length > 0) return false
  const below = living
    .filter(({ parent }) => parent === call.id)
    .flatMap(({ reported }) => Object.values(reported))
  return (['prompt_tokens', 'completion_tokens'] as const).every(
    (kind) => report[kind] === below.reduce((sum, one) => sum + one[kind], 0),
  )
}

type Sums = Record<string, [number, number]>

function addTo(sums: Sums, key: string, [input, output]: readonly [number, number]): void {
  if (input + output === 0) return
  const known = sums[key] ?? [0, 0]
  sums[key] = [known[0] + input, known[1] + output]
}

/** By hour and model. */
function naiveHours(living: readonly Call[], counting: 'own' | 'reported'): Sums {
  const sums: Sums = {}
  for (const call of living) {
    const hour = Math.floor((call.startedUs - BASE_US) / HOUR_US)
    const used =
      counting === 'own'
        ? naiveOwn(call, living)
        : new Map(
            Object.entries(call.reported).map(([model, { prompt_tokens, completion_tokens }]) => [
              model,
              [prompt_tokens, completion_tokens] as const,
            ]),
          )
    for (const [model, tokens] of used) addTo(sums, `${hour} ${model}`, tokens)
  }
  return sums
}

async function askHours(store: SqliteStore, counting: 'own' | 'reported'): Promise<Sums> {
  const startsUs = Float64Array.from({ length: HOURS }, (_, hour) => BASE_US + hour * HOUR_US)
  const columnOf = (metric: 'input_tokens' | 'output_tokens') => ({
    key: metric,
    metric,
    of: 'sum' as const,
  })
  const { usage } = await store.stats.aggregate(
    {
      project_id: PROJECT,
      filter: {},
      prices: [],
      valuesMax: 1e6,
      counting,
      startsUs,
      startUs: BASE_US,
      endUs: BASE_US + HOURS * HOUR_US,
      callColumns: [],
      usageColumns: [columnOf('input_tokens'), columnOf('output_tokens')],
    },
    readCaller(),
  )
  const sums: Sums = {}
  for (const { model, table } of usage) {
    const [input, output] = table.values as [Float64Array, Float64Array]
    input.forEach((tokens, hour) => {
      addTo(sums, `${hour} ${model}`, [tokens, output[hour] as number])
    })
  }
  return sums
}

/** What every call and those below it used themselves. */
function naiveTrees(living: readonly Call[]): Record<string, Sums> {
  const walk = (call: Call, sums: Sums) => {
    for (const [model, tokens] of naiveOwn(call, living)) addTo(sums, model, tokens)
    for (const child of living) if (child.parent === call.id) walk(child, sums)
    return sums
  }
  return Object.fromEntries(living.map((call) => [call.id, walk(call, {})]))
}

async function askTrees(store: SqliteStore): Promise<Record<string, Sums>> {
  const { call_usage } = await store.usage.sumTraceUsage(
    {
      project_id: PROJECT,
      filter: {},
      expression: null,
      prices: null,
      counting: 'own',
      limit: 100,
    },
    readCaller(),
  )
  return Object.fromEntries(
    Object.entries(call_usage).map(([id, models]) => {
      const sums: Sums = {}
      for (const [model, { prompt_tokens, completion_tokens }] of Object.entries(models)) {
        addTo(sums, model, [prompt_tokens, completion_tokens])
      }
      return [id, sums]
    }),
  )
}

describe('usage', () => {
  it('counts once whatever order parts come in, twice, late, in other hours, and go', async () => {
    let differing = 0
    const property = fc.asyncProperty(
      fc.array(drawnCall, { minLength: 2, maxLength: 9 }).map(toCalls),
      fc.array(move, { maxLength: 40 }),
      fc.array(fc.nat(), { maxLength: 2 }),
      fc.constantFrom(1, 3, 1000),
      async (calls, moves, removed, segmentRowsMax) => {
        const store = openSqliteStore({
          dataDir: ':memory:',
          ingestQueueMax: 100,
          segmentRowsMax,
        })
        const started = new Set<string>()
        const ended = new Set<string>()
        const deleted = new Set<string>()
        let batch: CallParts[] = []
        const commit = async () => {
          await store.calls.writeParts(batch.splice(0))
        }
        const living = () =>
          calls
            .filter(({ id }) => started.has(id) && !deleted.has(id))
            .map((call) => (ended.has(call.id) ? call : { ...call, reported: {} }))
        const compare = async () => {
          const counted = living()
          expect(await askTrees(store)).toEqual(naiveTrees(counted))
          for (const counting of ['own', 'reported'] as const) {
            expect(await askHours(store, counting)).toEqual(naiveHours(counted, counting))
          }
          const [own, reported] = [naiveHours(counted, 'own'), naiveHours(counted, 'reported')]
          if (JSON.stringify(own) !== JSON.stringify(reported)) differing += 1
        }
        const send = (call: Call, does: string) => {
          const start = does === 'end' ? null : startOf(call)
          const end = does === 'start' ? null : endOf(call)
          if (start) started.add(call.id)
          if (end) ended.add(call.id)
          batch.push({ start, end })
        }
        const remove = async (root: Call) => {
          await commit()
          const ids = [root.id]
          for (const id of ids) {
            for (const call of calls)
              if (call.parent === id && started.has(call.id)) ids.push(call.id)
          }
          if (started.has(root.id) || ended.has(root.id)) for (const id of ids) deleted.add(id)
          await store.calls.deleteCalls({ project_id: PROJECT, ids: [root.id], deleted_at_us: 1 })
        }
        for (const { does, call } of moves) {
          const chosen = calls[call % calls.length] as Call
          if (does === 'delete') await remove(chosen)
          else if (does === 'build') {
            await commit()
            await store.segments.buildAll()
            await compare()
          } else if (does === 'commit') await commit()
          else send(chosen, does)
        }
        batch = [...batch, ...calls.map((call) => ({ start: startOf(call), end: endOf(call) }))]
        for (const { id } of calls) {
          started.add(id)
          ended.add(id)
        }
        await commit()
        await compare()
        await store.segments.buildAll()
        for (const index of removed) {
          await remove(calls[index % calls.length] as Call)
          await compare()
        }
        await store.close()
      },
    )
    await fc.assert(property, { numRuns: 60 })
    // Some forty of the comparisons differ; a draw without any would prove nothing.
    expect(differing).toBeGreaterThan(10)
  }, 60_000)
})
