/** Numbers that a double rounds, in what users define: they keep their digits. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { toScorer } from '../../src/domain/evaluations/runnable-objects.ts'
import { parseExact } from '../../src/domain/json/json-text.ts'
import { createChecks } from '../../src/inference/scorers/rules.ts'
import { createScorers } from '../../src/inference/scorers/scorers.ts'
import { Scorer } from '../../src/schemas/evaluators/scorer.ts'
import { buildEvaluatorApp, openRunner, project_id, ruleScorers } from './evaluator-app.ts'

const LONG = JSON.rawJSON('12345678901234567890')
const OTHER = JSON.rawJSON('12345678901234567891')
const EQUALS = { kind: 'rule', rule: { type: 'equals', path: '$.output.id', value: LONG } }
const of = `?project_id=${encodeURIComponent(project_id)}`

describe('the expected value of a rule', () => {
  it('keeps every digit wherever it is read, and only the same number equals it', async () => {
    const app = await buildEvaluatorApp()
    const { get, put, post, create, storeCall, results, deps } = app
    const { id, ref } = await create({ scorer: EQUALS })
    const edited = { ...EQUALS, negate: false, rule: { ...EQUALS.rule, ignore_case: true } }
    expect((await put(`/evaluators/${id}`, { project_id, scorer: edited })).status).toBe(200)
    const digest = ref.split(':').at(-1)
    for (const { text } of [
      await get(`/evaluators/${id}${of}`),
      await get(`/evaluators/${id}/versions${of}`),
      await get('/v1/audit?action=evaluator.update'),
      await post('/obj/read', { project_id, object_id: 'says-yes', digest }),
    ]) {
      expect(text).toContain('"value":12345678901234567890')
    }
    const runner = openRunner(deps, ruleScorers())
    await storeCall({ id: 'same' }, { output: { id: LONG } })
    await storeCall({ id: 'other' }, { output: { id: OTHER } })
    await runner.runRound()
    const found = await results({ sort_by: [{ field: 'weave_ref', direction: 'desc' }] })
    expect(found.map(({ payload }) => payload.output.passed)).toEqual([true, false])
  })

  it.each([
    ['1.0', '1', true],
    ['-0', '0', true],
    ['0.0', '-0.0', true],
    ['1e2', '100', true],
    ['12345678901234567890.0', '1234567890123456789e1', true],
    ['1e-400', '0', false],
    ['1e999', '1e998', false],
    ['1e99999999999999999999999', '1e99999999999999999999998', false],
    ['{"a":[1.50]}', '{"a":[1.5]}', true],
    ['"1.0"', '1.0', true],
    ['"1.0"', '1', false],
  ])('%s equals %s: %s', async (value, output, passed) => {
    const checks = createChecks()
    onTestFinished(checks.close)
    const scorer = Scorer.parse({
      kind: 'rule',
      rule: { type: 'equals', value: parseExact(value) },
    })
    if (scorer.kind !== 'rule') throw new Error('no rule')
    const score = await checks.score(scorer, { inputs: {}, output: parseExact(output) })
    expect(score.output.passed).toBe(passed)
  })
})

describe('the query of rules that fill a queue', () => {
  it('keeps every digit, and finds calls by it', async () => {
    const { post, get, put } = await buildEvaluatorApp()
    const query = { $expr: { $eq: [{ $getField: 'inputs.id' }, { $literal: LONG }] } }
    const rules = { query, random: 1 }
    const made = await post('/annotation_queues', {
      project_id,
      name: 'q',
      scorer_refs: [],
      rules,
    })
    expect(made.status, made.text).toBe(200)
    const url = `/annotation_queues/${made.body.id}`
    expect((await get(`${url}${of}`)).text).toContain('"$literal":12345678901234567890')
    const edited = await put(url, { project_id, rules: { ...rules, random: 0.5 } })
    expect(edited.text).toContain('"$literal":12345678901234567890')
    expect((await get('/v1/audit?action=queue.update')).text).toContain('12345678901234567890')
  })
})

it.each([
  ['{"score":0.5,"id":12345678901234567890}', 0.5],
  ['{"score":12345678901234567890}', 12345678901234567000],
  ['12345678901234567890', 12345678901234567000],
])('the response %s of a webhook keeps every digit, and is the score %d', async (text, value) => {
  const webhooks = { post: async () => ({ status: 200, text }), close: async () => undefined }
  const scorers = createScorers({ webhooks } as never)
  onTestFinished(scorers.close)
  const scorer = Scorer.parse({ kind: 'webhook', url: 'https://scorer.example.com/' })
  const context = { project_id, attributes: {}, signal: new AbortController().signal }
  const score = await scorers.score(scorer, { inputs: {}, output: '' }, context as never)
  expect(score.value).toBe(value)
  expect(JSON.stringify(score.output)).toContain('12345678901234567890')
})

it('a published rule keeps every digit of its value', () => {
  const scorer = toScorer({ _class_name: 'Rule', name: 'r', ...EQUALS, negate: false }, 'scorer')
  expect(JSON.stringify(scorer)).toContain('"value":12345678901234567890')
  const shares = { type: 'similarity', value: 'a', min: JSON.rawJSON('1.0') }
  expect(toScorer({ kind: 'rule', rule: shares }, 'scorer')).toMatchObject({ rule: { min: 1 } })
})
