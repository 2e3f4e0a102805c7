import { describe, expect, it, vi } from 'vitest'
import {
  EMPTY,
  type StoredDefinition,
  toDefinition,
  toFields,
  UNSUPPORTED,
} from '../../../src/page/evaluators/evaluator-fields.ts'
import { reasonOf } from '../../../src/page/evaluators/evaluator-labels.ts'
import { EvaluatorDefinition } from '../../../src/schemas/evaluators/evaluator.ts'

// The module of times reads it when it is imported.
vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined }))

const toRef = (name: string) => `weave:///acme/demo/op/${name}:*`

function store(definition: object): StoredDefinition {
  return { name: 'one', ...EvaluatorDefinition.parse(definition) }
}

function rule(more: object, negate = false) {
  return { scorer: { kind: 'rule', rule: more, negate } }
}

const JUDGE = {
  kind: 'judge',
  model: 'm',
  messages: [
    { role: 'system', content: 'Be strict.' },
    { role: 'user', content: 'Rate {answer}.' },
  ],
  variables: { answer: '$.output' },
  output_schema: { type: 'object' },
  temperature: 1,
}

describe('the form of an evaluator', () => {
  it.each([
    rule({ type: 'contains', texts: ['a', 'b'], all: true, ignore_case: true }),
    rule({ type: 'contains', texts: ['a\nb'] }, true),
    rule({ type: 'regex', path: '$.inputs', pattern: 'a+', ignore_case: true }, true),
    rule({ type: 'length', unit: 'words', min: 2 }),
    rule({ type: 'equals', expected_path: '$.inputs.expected', ignore_case: true }),
    rule({ type: 'equals', value: 1 }),
    rule({ type: 'latency', max_ms: 0.5 }),
    rule({ type: 'cost', max_usd: 1 }, true),
    rule({ type: 'json_schema', schema: { type: 'object' } }),
    { scorer: JUDGE, sampling: 0.07, max_usd_per_day: 2.5, concurrency: 2 },
    { scorer: { ...JUDGE, variables: { 'a=b': '$.output' } }, target: 'trace', rest_seconds: 5 },
    { scorer: { kind: 'webhook', url: 'https://example.com/x', timeout_ms: 5 } },
    { ...rule({ type: 'latency', max_ms: 1 }), filter: { trace_roots_only: true } },
    {
      ...rule({ type: 'latency', max_ms: 1 }),
      description: 'x',
      filter: { op_names: [toRef('answer'), 'answer', 'weave:///acme/demo/op/plan:abc'] },
      query: { $expr: { $eq: [{ $getField: 'trace_id' }, { $literal: 'a' }] } },
    },
  ])('makes no other version of %j when nothing is changed', (definition) => {
    const stored = store(definition)
    const made = EvaluatorDefinition.parse(toDefinition(toFields(stored), stored, toRef))
    expect(JSON.stringify(made)).toBe(JSON.stringify(EvaluatorDefinition.parse(definition)))
  })

  it('names an operation by all of its versions, and keeps those that are stored', () => {
    const pinned = 'weave:///acme/demo/op/plan:abc'
    const stored = store({
      ...rule({ type: 'latency', max_ms: 1 }),
      filter: { op_names: [pinned, 'old'] },
    })
    const fields = { ...toFields(stored), operations: 'plan\n answer \n' }
    const { filter } = toDefinition(fields, stored, toRef)
    expect(filter?.op_names).toEqual([pinned, toRef('answer'), 'answer'])
    expect(toDefinition({ ...fields, operations: '' }, stored, toRef).filter).toEqual({})
  })

  it('changes the last message of a prompt alone', () => {
    const stored = store({ scorer: JUDGE })
    const { scorer } = toDefinition({ ...toFields(stored), prompt: 'New' }, stored, toRef)
    expect(scorer).toMatchObject({
      messages: [JUDGE.messages[0], { role: 'user', content: 'New' }],
      output_schema: JUDGE.output_schema,
    })
  })

  it('refuses variables without a path, and shows no scorer that it cannot keep', () => {
    const fields = { ...EMPTY, model: 'm', variables: 'answer' }
    expect(() => toDefinition(fields, null, toRef)).toThrow('not "answer"')
    expect(toFields(store(rule({ type: 'cost', max_usd: 1 }))).kind).toBe(UNSUPPORTED)
  })
})

it('an evaluator that does not score says why', () => {
  const fine = {
    state: 'active',
    retry_at: null,
    last_error: null,
    max_usd_per_day: 1,
    spent_today_usd: 0.5,
  } as const
  expect(reasonOf(fine)).toBe('')
  expect(reasonOf({ ...fine, spent_today_usd: 1 })).toContain('$1.00 of today are spent')
  const failed = { ...fine, last_error: 'No key.' }
  expect(reasonOf({ ...failed, state: 'paused' })).toMatch(
    /^It was paused.*Last failure: No key\.$/,
  )
  expect(reasonOf({ ...failed, retry_at: '2026-01-31T09:30:00Z' })).toMatch(
    /^It rests until 20.*No key\.$/,
  )
})
