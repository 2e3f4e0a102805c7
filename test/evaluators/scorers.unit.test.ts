import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ScoredSubject } from '../../src/domain/evaluators/score.ts'
import { createChecks } from '../../src/inference/scorers/rules.ts'
import { createWebhooks } from '../../src/outbound/webhooks.ts'
import { Scorer } from '../../src/schemas/evaluators/scorer.ts'

const SUBJECT: ScoredSubject = {
  inputs: { question: 'What is 2 + 2?' },
  output: { choices: [{ message: { content: 'It is Four.' } }] },
  reference: { answer: 'four' },
  latency_ms: 120,
  cost_usd: null,
}
const CONTENT = '$.output.choices[0].message.content'

function openChecks() {
  const checks = createChecks()
  onTestFinished(checks.close)
  return async (rule: object, subject = SUBJECT, negate = false) => {
    const scorer = Scorer.parse({ kind: 'rule', rule, negate })
    if (scorer.kind !== 'rule') throw new Error('no rule')
    return checks.score(scorer, subject)
  }
}

describe('rules', () => {
  it.each([
    [{ type: 'regex', path: CONTENT, pattern: '^it is \\w+\\.$', ignore_case: true }, true],
    [{ type: 'regex', path: CONTENT, pattern: '^it is' }, false],
    [{ type: 'contains', path: CONTENT, texts: ['five', 'Four'] }, true],
    [{ type: 'contains', path: CONTENT, texts: ['five', 'Four'], all: true }, false],
    [{ type: 'equals', path: '$.inputs.question', value: 'What is 2 + 2?' }, true],
    [{ type: 'equals', path: '$.reference', value: { answer: 'four' } }, true],
    [{ type: 'equals', path: '$.inputs.question', expected_path: '$.reference.answer' }, false],
    [{ type: 'length', path: CONTENT, unit: 'words', min: 3, max: 3 }, true],
    [{ type: 'length', path: CONTENT, max: 3 }, false],
    [{ type: 'latency', max_ms: 120 }, true],
    [{ type: 'latency', max_ms: 119 }, false],
    [
      { type: 'json_schema', path: '$.output', schema: { type: 'object', required: ['choices'] } },
      true,
    ],
    [{ type: 'json_schema', path: CONTENT, schema: {} }, false],
  ])('gives %j the result %s', async (rule, passed) => {
    const score = await openChecks()(rule)
    expect(score.output.passed).toBe(passed)
    expect(score.value).toBe(Number(passed))
  })

  it.each([
    ['kitten', 'sitting', 1 - 3 / 7],
    ['', '', 1],
    ['🦉a', '🦉', 0.5],
    ['Owl', 'owl', 1, { ignore_case: true }],
    [90, 110, 0.9],
    ['90', 110, 0.9],
    [-1, 1, 0],
    [0, 0, 1],
    [1.7e308, -1.7e308, 0],
    [JSON.rawJSON('1e999'), 5, 0],
    [{ a: 'x', b: 1 }, { b: 1, a: 'y', c: null }, 1 / 3],
    ['{"a": ["owl", 2]}', { a: ['owl', 2] }, 1],
    [['owl', 'bee'], ['owl'], 0.5],
    ['owl', ['owl'], 0],
    [null, null, 1],
  ])('says that %j and %j are alike by %d', async (output, value, expected, fields?: object) => {
    const rule = { type: 'similarity', value, min: 0.5, ...fields }
    const score = await openChecks()(rule, { inputs: {}, output })
    expect(score.value).toBeCloseTo(expected, 9)
    expect(score.output.score).toBe(score.value)
    expect(score.output.passed).toBe(expected >= 0.5)
  })

  it('has no score of texts that are too long to be compared in time', async () => {
    const rule = { type: 'similarity', value: 'a'.repeat(100_000) }
    const late = openChecks()(rule, { inputs: {}, output: 'b'.repeat(400_000) })
    await expect(late).rejects.toThrow(/similarity takes longer/)
  })

  it('negates', async () => {
    const rule = { type: 'contains', path: CONTENT, texts: ['Four'] }
    expect((await openChecks()(rule, SUBJECT, true)).output.passed).toBe(false)
  })

  it('has no score where the value, the cost or the latency is missing', async () => {
    const check = openChecks()
    for (const rule of [
      { type: 'cost', max_usd: 1 },
      { type: 'contains', path: '$.output.text', texts: ['a'] },
    ]) {
      await expect(check(rule)).rejects.toMatchObject({ code: 'scorer_failed' })
    }
  })

  it('ends a regular expression that backtracks without end, and goes on with the next', async () => {
    const check = openChecks()
    const subject = { inputs: {}, output: `${'a'.repeat(60)}b` }
    const slow = check({ type: 'regex', pattern: '^(a+)+$' }, subject)
    const schema = { type: 'string', pattern: '^(a+)+$' }
    const json = { inputs: {}, output: JSON.stringify(subject.output) }
    const slowToo = check({ type: 'json_schema', schema }, json)
    await expect(slow).rejects.toThrow('takes longer')
    await expect(slowToo).rejects.toThrow('takes longer')
    expect((await check({ type: 'regex', pattern: 'b$' }, subject)).output.passed).toBe(true)
  })

  it('says which part of a schema is broken', async () => {
    const schema = { properties: { answer: { type: 'number' } } }
    const rule = { type: 'json_schema', path: '$.reference', schema }
    expect((await openChecks()(rule)).reason).toBe('/answer must be number')
  })
})

describe('webhooks', () => {
  const send = (hosts: readonly string[], url: string) => {
    const webhooks = createWebhooks(hosts)
    onTestFinished(webhooks.close)
    return webhooks.post({
      url,
      body: '{}',
      timeoutMs: 5_000,
      signal: new AbortController().signal,
    })
  }

  it.each([
    'http://127.0.0.1:1/',
    'http://[::1]:1/',
    'http://[::ffff:127.0.0.1]:1/',
    'http://2130706433:1/',
    'http://169.254.169.254/latest/meta-data',
    'http://localhost:8080/',
    'http://[fd00::1]/',
  ])('refuses the private address %s', async (url) => {
    const error = await send([], url).catch((thrown: unknown) => thrown)
    const { cause } = error as Error
    expect(String(cause ?? error)).toContain('is in a private network')
  })

  it('reaches a private host that is allowed, and follows no redirect', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: '/' }).end()
      else response.end('{"score":1}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const found = await send(['localhost', '127.0.0.1'], `http://localhost:${port}/`)
    expect(found).toEqual({ status: 200, text: '{"score":1}' })
    await expect(send(['127.0.0.1'], `http://127.0.0.1:${port}/away`)).rejects.toThrow()
  })
})
