/** Random histories of calls that report the same requests, and what they count by a plain reading of all of them. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { CallParts } from '../../../src/domain/calls/new-call.ts'
import { readUsage } from '../../../src/domain/usage/usage.ts'
import type { Stores } from '../../../src/store/api/stores.ts'
import { BASE_US, endOf, HOUR_US, PROJECT, startOf } from '../../stats/support/segment-calls.ts'
import { readCaller } from '../../support/read-caller.ts'

/** Starts of calls, in hours: in one hour, the next, and years later. */
const HOURS = [0, 1, 30_000]
const MODELS = ['gpt-4o', 'openai/gpt-4o', 'gpt-4o-2024-08-06', 'claude-3-5-haiku']
const FAMILIES = ['gpt-4o', 'gpt-4o', 'gpt-4o', 'claude-3-5-haiku']
const RESPONSES = ['chatcmpl-0123456789abcdef', 'msg_01XFDUDYJgAACzvnptvV', 'chatcmpl-1']

const drawnCall = fc.record({
  /** Its parent is one of the calls before it, or none; that of the first may be the second. */
  parent: fc.option(fc.nat(), { freq: 2 }),
  hour: fc.constantFrom(0, 0, 0, 1, 2),
  model: fc.nat(MODELS.length - 1),
  tokens: fc.constantFrom(10, 10, 10, 20),
  output: fc.constantFrom(3, 3, 0),
  reports: fc.constantFrom('own', 'own', 'own', 'sum', 'sum as one', 'nothing'),
  response: fc.option(fc.nat(RESPONSES.length - 1), { freq: 3 }),
  link: fc.option(fc.nat(), { freq: 1 }),
})
type Drawn = typeof drawnCall extends fc.Arbitrary<infer T> ? T : never

const first = { parent: null, hour: 0, model: 0, tokens: 10, output: 3, reports: 'own' } as const
/** Both report one request. */
const DOUBLE: Drawn[] = [0, 0].map((response) => ({ ...first, response, link: null }))

const move = fc.record({
  does: fc.constantFrom('start', 'end', 'both', 'both', 'delete', 'commit', 'commit'),
  call: fc.nat(),
})

type Report = Readonly<Record<string, { input: number; output: number; requests: number }>>

interface Call {
  readonly id: string
  readonly parent: string | null
  readonly link: string | null
  readonly startedUs: number
  readonly response: string | null
  readonly family: string
  readonly report: Report
}

function toCalls(drawn: readonly Drawn[]): Call[] {
  const parentOf = (index: number): number | null => {
    const parent = drawn[index]?.parent ?? null
    if (index === 0) return parent !== null && parent % 4 === 0 && drawn.length > 1 ? 1 : null
    return parent === null ? null : parent % index
  }
  const reports: Report[] = []
  for (let index = drawn.length - 1; index >= 0; index--) {
    const { model, tokens, output, reports: kind } = drawn[index] as Drawn
    const name = MODELS[model] as string
    const below = reports.filter((_, child) => child > index && parentOf(child) === index)
    const sum: Record<string, { input: number; output: number; requests: number }> = {}
    const own = { [name]: { input: tokens, output, requests: 1 } }
    for (const report of kind === 'own' ? [own] : kind === 'nothing' ? [] : below) {
      for (const [of, { input, output: out, requests }] of Object.entries(report ?? {})) {
        const as = kind === 'sum as one' ? name : of
        const known = sum[as] ?? { input: 0, output: 0, requests: 0 }
        const all = kind === 'sum as one' ? 1 : known.requests + requests
        sum[as] = { input: known.input + input, output: known.output + out, requests: all }
      }
    }
    reports[index] = sum
  }
  return drawn.map(({ hour, model, response, link }, index) => {
    const parent = parentOf(index)
    const other = link === null ? index : link % drawn.length
    return {
      id: `c${index}`,
      parent: parent === null ? null : `c${parent}`,
      link: other === index ? null : `c${other}`,
      startedUs: BASE_US + (HOURS[hour] as number) * HOUR_US + (index % 3),
      response: response === null ? null : (RESPONSES[response] as string),
      family: FAMILIES[model] as string,
      report: reports[index] as Report,
    }
  })
}

const usageOf = ({ report }: Call) =>
  readUsage({
    usage: Object.fromEntries(
      Object.entries(report).map(([model, { input, output, requests }]) => [
        model,
        { prompt_tokens: input, completion_tokens: output, requests },
      ]),
    ),
  })

function partsOf(call: Call): { start: CallParts['start']; end: CallParts['end'] } {
  const { id, parent, startedUs, link, response } = call
  const fields = { latencyUs: 5, op: 'op', user: 'u', run: null, isError: false }
  const isRoot = parent === null
  const test = {
    id,
    startedUs,
    isRoot,
    parentId: parent ?? 'none',
    usage: usageOf(call),
    ...fields,
  }
  const attributes_json = link === null ? '{}' : `{"weave":{"parent_call":{"id":"${link}"}}}`
  const response_id = response !== null && response.length > 16 ? response : null
  const output_json = JSON.stringify({ id: response })
  return {
    start: { ...startOf(test), trace_id: 't', attributes_json, linked_id: link },
    end: { ...endOf(test), output_json, response_id },
  }
}

const sumOf = (reports: readonly Report[]) => {
  const all = reports.flatMap((report) => Object.values(report))
  const add = (kind: 'input' | 'output') => all.reduce((sum, one) => sum + one[kind], 0)
  return { input: add('input'), output: add('output') }
}
const isBefore = (a: Call, b: Call) =>
  a.startedUs === b.startedUs ? a.id < b.id : a.startedUs < b.startedUs

/** What each of the living calls used itself, by model: the naive reference. */
function naiveOwn(living: readonly Call[]): Map<string, Report> {
  const find = (id: string | null) => living.find((call) => call.id === id)
  const signature = (call: Call) => {
    const [one, ...more] = Object.entries(call.report)
    if (!one || more.length > 0 || one[1].requests > 1) return null
    const family = FAMILIES[MODELS.indexOf(one[0])]
    return one[1].input + one[1].output === 0 ? null : `${family} ${one[1].input} ${one[1].output}`
  }
  const isSame = (a: Call, b: Call) => signature(a) !== null && signature(a) === signature(b)
  const ofResponse = (call: Call) =>
    signature(call) !== null && call.response !== null && call.response.length > 16
      ? `${call.response} ${signature(call)}`
      : null
  const linkOf = (call: Call) => {
    const other = find(call.link)
    if (!other || !isSame(call, other)) return undefined
    return other.link === call.id && isBefore(call, other) ? undefined : other
  }
  const request = (call: Call) => {
    const other = linkOf(call)
    if (other) return ofResponse(other) ?? `call ${other.id}`
    const isLinked = living.some((one) => linkOf(one) === call)
    return ofResponse(call) ?? (isLinked ? `call ${call.id}` : null)
  }
  const requests = new Map(living.map((call) => [call, request(call)]))
  const below = (parent: Call) => {
    const found = living.filter(
      (child) =>
        child.parent === parent.id &&
        child !== parent &&
        !(parent.parent === child.id && isBefore(child, parent)) &&
        (requests.get(child) === null || requests.get(child) !== requests.get(parent)),
    )
    const first = (child: Call) =>
      found.find((one) => requests.get(one) === requests.get(child) && one.id < child.id)
    return found
      .filter((child) => requests.get(child) === null || first(child) === undefined)
      .map(({ report }) => report)
  }
  const own = new Map<string, Report>()
  for (const call of living) {
    const reports = below(call)
    const same = living.filter(
      (one) => one === call || (requests.get(one) ?? one.id) === requests.get(call),
    )
    const rank = (one: Call) => {
      const { input, output } = sumOf(below(one))
      return (same.some(({ parent }) => parent === one.id) ? 2 : 0) + (input + output > 0 ? 1 : 0)
    }
    const [counting] = same.toSorted((a, b) => rank(a) - rank(b) || (isBefore(a, b) ? -1 : 1))
    const [all, children] = [sumOf([call.report]), sumOf(reports)]
    const isOne = Object.keys(call.report).length < 2
    const isSum = isOne && all.input === children.input && all.output === children.output
    const left = Object.entries(call.report).flatMap(([model, report]) => {
      const nested = reports.flatMap((one) => one[model] ?? [])
      const sum = (kind: 'input' | 'output' | 'requests') =>
        nested.reduce((total, one) => total + one[kind], 0)
      const [input, output] = [sum('input'), sum('output')]
      const holds =
        report.input >= input && report.output >= output && report.requests >= sum('requests')
      const rest = holds
        ? { ...report, input: report.input - input, output: report.output - output }
        : report
      return [[model, rest] as const]
    })
    own.set(call.id, counting !== call || isSum ? {} : Object.fromEntries(left))
  }
  return own
}

type Sums = Record<string, readonly [number, number]>

function addTo(sums: Sums, key: string, input: number, output: number): void {
  if (input + output === 0) return
  const [in_, out] = sums[key] ?? [0, 0]
  sums[key] = [in_ + input, out + output]
}

function columnOf(metric: 'input_tokens' | 'output_tokens') {
  return { key: metric, metric, of: 'sum' as const }
}

async function readHours(stores: Stores): Promise<Sums> {
  const startsUs = Float64Array.from(HOURS, (hour) => BASE_US + hour * HOUR_US)
  const { usage } = await stores.stats.aggregate(
    {
      project_id: PROJECT,
      filter: {},
      prices: [],
      valuesMax: 1e6,
      counting: 'own',
      startsUs,
      startUs: BASE_US,
      endUs: (startsUs.at(-1) as number) + HOUR_US,
      callColumns: [],
      usageColumns: [columnOf('input_tokens'), columnOf('output_tokens')],
    },
    readCaller(),
  )
  const sums: Sums = {}
  for (const { model, table } of usage) {
    const [input, output] = table.values as [Float64Array, Float64Array]
    input.forEach((tokens, hour) => {
      addTo(sums, `${hour} ${model}`, tokens, output[hour] as number)
    })
  }
  return sums
}

/** The same of the whole window by model, without its hour. */
async function readModels(stores: Stores): Promise<Sums> {
  const { groups } = await stores.stats.group(
    {
      project_id: PROJECT,
      filter: {},
      prices: [],
      counting: 'own',
      startUs: BASE_US,
      endUs: BASE_US + ((HOURS.at(-1) as number) + 1) * HOUR_US,
      callColumns: [],
      usageColumns: [columnOf('input_tokens'), columnOf('output_tokens')],
      groupBy: {
        field: 'model',
        sort_by: { field: 'group', direction: 'asc' },
        limit: 100,
        times: false,
      },
    },
    readCaller(),
  )
  const sums: Sums = {}
  for (const { group, values } of groups) {
    if (group !== null) addTo(sums, group, values[0] as number, values[1] as number)
  }
  return sums
}

function naiveModels(hours: Sums): Sums {
  const sums: Sums = {}
  for (const [key, [input, output]] of Object.entries(hours)) {
    addTo(sums, key.slice(key.indexOf(' ') + 1), input, output)
  }
  return sums
}

function naiveHours(living: readonly Call[]): Sums {
  const sums: Sums = {}
  const own = naiveOwn(living)
  for (const call of living) {
    const hour = HOURS.findLastIndex((one) => BASE_US + one * HOUR_US <= call.startedUs)
    for (const [model, { input, output }] of Object.entries(own.get(call.id) ?? {})) {
      addTo(sums, `${hour} ${model}`, input, output)
    }
  }
  return sums
}

/** The trees' sums of all models, of roots that no call is below itself in. */
async function compareTrees({ usage }: Stores, living: readonly Call[]): Promise<void> {
  const query = { project_id: PROJECT, filter: {}, expression: null, prices: null, limit: 100 }
  const { call_usage } = await usage.sumTraceUsage({ ...query, counting: 'own' }, readCaller())
  const own = naiveOwn(living)
  const walk = (id: string, sums: Sums): Sums => {
    for (const [model, { input, output }] of Object.entries(own.get(id) ?? {})) {
      addTo(sums, model, input, output)
    }
    for (const child of living) if (child.parent === id) walk(child.id, sums)
    return sums
  }
  for (const call of living.filter(({ parent }) => parent === null)) {
    const sums: Sums = {}
    for (const [model, one] of Object.entries(call_usage[call.id] ?? {})) {
      addTo(sums, model, one.prompt_tokens, one.completion_tokens)
    }
    expect(sums).toEqual(walk(call.id, {}))
  }
}

interface HistoryOptions {
  /** Opens empty stores, closed by the caller. */
  readonly open: () => Promise<Stores>
  readonly close: (stores: Stores) => Promise<void>
  /** Builds what the store reads statistics from; default: nothing is built. */
  readonly build?: (stores: Stores) => Promise<void>
  readonly runs: number
}

/** Compares what a store counts with the naive reference along random histories. @returns how many differ from reports */
export async function compareHistories(options: HistoryOptions): Promise<number> {
  let differing = 0
  const property = fc.asyncProperty(
    fc.array(drawnCall, { minLength: 2, maxLength: 8 }).map(toCalls),
    fc.array(move, { maxLength: 24 }),
    fc.array(fc.nat(), { maxLength: 2 }),
    async (calls, moves, removed) => {
      const stores = await options.open()
      const [started, ended, deleted] = [new Set<string>(), new Set<string>(), new Set<string>()]
      let batch: CallParts[] = []
      const commit = async () => {
        await stores.calls.writeParts(batch.splice(0))
      }
      const living = () =>
        calls
          .filter(({ id }) => started.has(id) && !deleted.has(id))
          .map((call) => (ended.has(call.id) ? call : { ...call, report: {} }))
      const compare = async () => {
        await commit()
        const expected = naiveHours(living())
        expect(await readHours(stores)).toEqual(expected)
        await compareTrees(stores, living())
        const reported: Sums = {}
        for (const { report } of living()) {
          const { input, output } = sumOf([report])
          addTo(reported, 'all', input, output)
        }
        const counted = Object.values(expected).reduce((sum, [input]) => sum + input, 0)
        if (counted !== (reported.all?.[0] ?? 0)) differing += 1
      }
      const send = (call: Call, does: string) => {
        const { start, end } = partsOf(call)
        if (does !== 'end') started.add(call.id)
        if (does !== 'start') ended.add(call.id)
        batch.push({ start: does === 'end' ? null : start, end: does === 'start' ? null : end })
      }
      const remove = async ({ id }: Call) => {
        await commit()
        const ids = [id]
        for (const parent of ids) {
          for (const call of calls) {
            if (call.parent === parent && started.has(call.id) && !ids.includes(call.id)) {
              ids.push(call.id)
            }
          }
        }
        if (started.has(id) || ended.has(id)) for (const one of ids) deleted.add(one)
        await stores.calls.deleteCalls({ project_id: PROJECT, ids: [id], deleted_at_us: 1 })
      }
      for (const { does, call } of moves) {
        const chosen = calls[call % calls.length] as Call
        if (does === 'delete' && call % 3 === 0) await remove(chosen)
        else if (does === 'commit') await compare()
        else if (does !== 'delete') send(chosen, does)
      }
      batch = [...batch, ...calls.map(partsOf)]
      for (const { id } of calls) {
        started.add(id)
        ended.add(id)
      }
      await compare()
      await options.build?.(stores)
      await compare()
      expect(await readModels(stores)).toEqual(naiveModels(naiveHours(living())))
      for (const index of removed) {
        await remove(calls[index % calls.length] as Call)
        await compare()
      }
      await options.close(stores)
    },
  )
  await fc.assert(property, { numRuns: options.runs, examples: [[toCalls(DOUBLE), [], []]] })
  return differing
}
