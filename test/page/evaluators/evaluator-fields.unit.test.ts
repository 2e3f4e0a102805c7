import { describe, expect, it, vi } from 'vitest'
import {
  EMPTY,
  type StoredDefinition,
  toDefinition,
  toFields,
  toScorer,
  UNSUPPORTED,
} from '../../../src/page/evaluators/evaluator-fields.ts'
import { reasonOf } from '../../../src/page/evaluators/evaluator-labels.ts'
import { EvaluatorDefinition } from '../../../src/schemas/evaluators/evaluator.ts'
import { Rule, RuleScorer } from '../../../src/schemas/evaluators/scorer.ts'

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

/** What people type into the fields that must be filled in. */
const TYPED = {
  texts: 'a\nb',
  occurring: 'all',
  pattern: 'a+',
  expected_path: '$.reference',
  case: 'ignored',
  schema: '{"type": "object"}',
  min: '2',
  max: '5',
  min_score: '0.5',
  max_ms: '10',
  max_usd: '0.5',
}

describe('the form of an evaluator', () => {
  it.each([
    rule({ type: 'contains', texts: ['a', 'b'], all: true, ignore_case: true }),
    rule({ type: 'contains', texts: ['a\nb'] }, true),
    rule({ type: 'regex', path: '$.inputs', pattern: 'a+', ignore_case: true }, true),
    rule({ type: 'length', unit: 'words', min: 2 }),
    rule({ type: 'equals', expected_path: '$.inputs.expected', ignore_case: true }),
    rule({ type: 'equals', value: 1 }),
    rule({ type: 'equals', value: { a: [null, 'x'] }, expected_path: '$.reference' }),
    rule({ type: 'similarity', value: null, min: 0.25, ignore_case: true }),
    rule({ type: 'similarity', expected_path: '$.reference.answer' }, true),
    rule({ type: 'latency', max_ms: 0.5 }),
    rule({ type: 'cost', max_usd: 0.001 }, true),
    rule({ type: 'json_schema', schema: {} }),
    rule({ type: 'json_schema', path: '$.inputs', schema: { type: 'object', required: ['a'] } }),
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

  it.each(Rule.options.map((option) => option.shape.type.value))(
    'has a form for the rule %s, which makes one that the API accepts',
    (kind) => {
      const made = toScorer({ ...EMPTY, kind, ...TYPED }, null)
      const parsed = RuleScorer.parse(made)
      expect(parsed).toEqual(made)
      const fields = toFields(store({ scorer: parsed }))
      expect(fields.kind).toBe(kind)
      expect(toScorer(fields, null)).toEqual(made)
    },
  )

  it('compares with a value where one is typed, and no longer with that at a path', () => {
    const stored = store(rule({ type: 'equals', expected_path: '$.reference' }))
    const fields = { ...toFields(stored), expected: 'value', value: '{"a": 12345678901234567890}' }
    const { scorer } = toDefinition(fields, stored, toRef)
    expect(JSON.parse(JSON.stringify(scorer)).rule).not.toHaveProperty('expected_path')
    expect(JSON.stringify(scorer)).toContain('"value":{"a":12345678901234567890}')
  })

  it('refuses variables without a path and what is no JSON, and shows no scorer that it cannot keep', () => {
    const fields = { ...EMPTY, model: 'm', variables: 'answer' }
    expect(() => toDefinition(fields, null, toRef)).toThrow('not "answer"')
    const value = { ...EMPTY, kind: 'equals', expected: 'value', value: 'blue' }
    expect(() => toScorer(value, null)).toThrow('The expected value is JSON, such as "blue"')
    const schema = { ...EMPTY, kind: 'json_schema', schema: '[]' }
    expect(() => toScorer(schema, null)).toThrow('The JSON Schema is an object')
    expect(toFields(store(rule({ type: 'contains', texts: ['a\nb'] }))).kind).toBe(UNSUPPORTED)
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
