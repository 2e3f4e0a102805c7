import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CallState,
  decideName,
  decideParts,
  startedIds,
  toNextState,
} from '../../src/domain/calls/call-state.ts'
import {
  type CallParts,
  resolveCallEnd,
  resolveCallStart,
} from '../../src/domain/calls/new-call.ts'
import { ApiError } from '../../src/errors.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const DEFAULTS = { id: 'x', trace_id: 't', svc_user_id: 'u', svc_username: 'U' }

const startOf = (fields: object = {}) =>
  resolveCallStart({ ...STARTED, id: 'a', trace_id: 't', ...fields }, DEFAULTS, 'weave')
const endOf = (fields: object = {}) => resolveCallEnd({ ...ENDED, id: 'a', ...fields }, 'weave')

const START = startOf()
const END = endOf()
/** The same start without a trace, as clients may repeat it. */
const AGAIN = startOf({ trace_id: undefined })

const part = fc.constantFrom<CallParts>(
  { start: START, end: null },
  { start: AGAIN, end: null },
  { start: null, end: END },
  { start: START, end: END },
)
const otherStarts = [{ op_name: 'x' }, { trace_id: 'other' }, { inputs: { other: 1 } }]
const otherEnds = [{ output: 'x' }, { exception: 'x' }, { summary: { other: 1 } }]
const other = fc.oneof(
  fc.constantFrom(...otherStarts).map((fields) => ({ start: startOf(fields), end: null })),
  fc.constantFrom(...otherEnds).map((fields) => ({ start: null, end: endOf(fields) })),
  fc.constantFrom(...otherEnds).map((fields) => ({ start: START, end: endOf(fields) })),
)
const needed: CallParts[] = [
  { start: START, end: null },
  { start: null, end: END },
]
const wholeCall = fc
  .array(part, { maxLength: 6 })
  .chain((more) => fc.shuffledSubarray([...needed, ...more], { minLength: more.length + 2 }))

/** Applies parts in order; returns the state and, for each part, what was decided or the code of its refusal. */
function play(parts: readonly CallParts[], from: CallState | null = null) {
  let state = from
  const decided = parts.map((next) => {
    try {
      const decisions = decideParts(state, next)
      const before = state
      state = toNextState(state, next, decisions)
      return { ...decisions, ids: next.start && startedIds(before, next.start) }
    } catch (error) {
      return { refused: error instanceof ApiError ? error.param : error }
    }
  })
  return { state, decided }
}

/** What a state compares and reports, which is all that can be read of it. */
function contentsOf(state: CallState | null) {
  const isSame = [START, AGAIN, ...otherStarts.map(startOf)].map((s) => state?.start?.isSame(s))
  const isSameEnd = [END, ...otherEnds.map(endOf)].map((end) => state?.end?.isSame(end))
  return { isSame, isSameEnd, isDeleted: state?.isDeleted }
}

describe('the parts of a call', () => {
  it('store one start and one end in every order and repetition, and conflict never', () => {
    fc.assert(
      fc.property(wholeCall, (parts) => {
        const { state, decided } = play(parts)
        expect(contentsOf(state)).toEqual(contentsOf(play(needed).state))
        for (const name of ['start', 'end'] as const) {
          const of = decided.flatMap((one) => ('refused' in one ? ['conflict'] : [one[name]]))
          const [first, ...others] = of.filter((decision) => decision !== null)
          expect(['insert', 'complete']).toContain(first)
          expect(others.filter((decision) => decision !== 'repeat')).toEqual([])
        }
      }),
    )
  })

  it('report every start the trace of the first', () => {
    fc.assert(
      fc.property(wholeCall, (parts) => {
        const { decided } = play(parts)
        const traces = decided.flatMap((one) => ('refused' in one || !one.ids ? [] : [one.ids]))
        expect(new Set(traces.map(({ trace_id }) => trace_id)).size).toBe(1)
      }),
    )
  })

  it('change nothing when they differ from the stored ones, and name the part in conflict', () => {
    fc.assert(
      fc.property(wholeCall, fc.array(other, { minLength: 1 }), (parts, others) => {
        const { state } = play(parts)
        const after = play(others, state)
        expect(contentsOf(after.state)).toEqual(contentsOf(state))
        const refused = others.map(({ end }) => (end ? 'end.id' : 'start.id'))
        expect(after.decided).toEqual(refused.map((param) => ({ refused: param })))
      }),
    )
  })

  it('neither conflict nor add an end once the call is deleted', () => {
    fc.assert(
      fc.property(wholeCall, fc.array(fc.oneof(part, other)), fc.nat(8), (parts, late, cut) => {
        const { state } = play(parts.slice(0, cut))
        const deleted = { start: null, end: null, ...state, isDeleted: true }
        const after = play(late, deleted)
        expect(after.decided.filter((one) => 'refused' in one)).toEqual([])
        expect(after.state?.end ?? null).toBe(deleted.end)
        expect(after.state?.isDeleted ?? true).toBe(true)
      }),
    )
  })
})

describe('a span that was stored while it ran', () => {
  const dump = (n: number) => ({ otel_dump: { n }, attributes: { n } })
  const [first, second, last] = [startOf(dump(1)), startOf(dump(2)), startOf(dump(3))]
  const running = [first, second].map((start) => ({ start, end: null }))
  const ended = { start: last, end: END }

  it('ends as the complete one, in every order and repetition, and conflicts never', () => {
    const sent = fc
      .array(fc.constantFrom<CallParts>(...running, ended), { maxLength: 6 })
      .chain((more) => fc.shuffledSubarray([ended, ...more], { minLength: more.length + 1 }))
    fc.assert(
      fc.property(sent, (parts) => {
        const { state, decided } = play(parts)
        expect(decided.filter((one) => 'refused' in one)).toEqual([])
        expect(state?.end?.isSame(END)).toBe(true)
        expect(state?.start?.isSame(last)).toBe(true)
      }),
    )
  })

  it('takes nothing of another trace, parent, operation or time, and nothing that is no span', () => {
    const others = [
      { trace_id: 'other' },
      { parent_id: 'other' },
      { op_name: 'other' },
      { started_at: '2020-01-01T00:00:00Z' },
      { otel_dump: null },
    ]
    const { state } = play(running)
    const after = play(
      others.map((fields) => ({ start: startOf({ ...dump(4), ...fields }), end: null })),
      state,
    )
    expect(after.decided).toEqual(others.map(() => ({ refused: 'start.id' })))
  })

  it('is refused with other content once it has ended, unless its first version is kept', () => {
    const other = { start: startOf(dump(4)), end: END }
    const { state } = play([ended])
    expect(play([other], state).decided).toEqual([{ refused: 'start.id' }])
    const start = { ...(state?.start as NonNullable<CallState['start']>), isFirstKept: true }
    const kept = { ...(state as CallState), start }
    expect(play([other], kept).decided).toMatchObject([{ start: 'repeat', end: 'repeat' }])
  })
})

it('a new name is inserted, added, or refused for a deleted call', () => {
  const state = { start: null, end: null, isDeleted: false }
  expect(decideName(null)).toBe('insert')
  expect(decideName(state)).toBe('complete')
  expect(() => decideName({ ...state, isDeleted: true })).toThrow(
    expect.objectContaining({ code: 'call_not_found', param: 'call_id' }),
  )
})
