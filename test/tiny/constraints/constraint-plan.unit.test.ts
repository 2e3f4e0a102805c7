/** Chat requests to constraints, and which of them are refused before any grammar is compiled. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { planConstraint } from '../../../src/inference/tiny/constraints/constraint-plan.ts'
import { closeObjects } from '../../../src/inference/tiny/constraints/json-schema-rewrite.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { choiceIn, type Fields, runWaiting } from '../running.ts'

const messages = [{ role: 'user', content: 'What is the opposite of hot?' }]
const plan = (fields: Fields) => planConstraint({ messages, ...fields })
const refusal = (param: string) => expect.objectContaining({ code: 'invalid_value', param })

describe('planConstraint', () => {
  it('finds none in free text', () => {
    expect(plan({})).toBeNull()
    expect(plan({ response_format: { type: 'text' } })).toBeNull()
    expect(plan({ response_format: {} })).toBeNull()
  })

  it.each<[string, Fields, string]>([
    ['json_object', { response_format: { type: 'json_object' } }, 'response_format'],
    [
      'json_schema without a type',
      { response_format: { json_schema: { name: 'x', schema: {} } } },
      'response_format.json_schema.schema',
    ],
    ['json as text', { structured_outputs: { json: '{}' } }, 'structured_outputs.json'],
    ['json as an object', { structured_outputs: { json: {} } }, 'structured_outputs.json'],
    ['regex', { structured_outputs: { regex: 'a' } }, 'structured_outputs.regex'],
  ])('names the field of %s', (_name, fields, param) => {
    expect(plan(fields)?.param).toBe(param)
  })

  it('reads patterns of unclosed brackets in linear time', () => {
    const pattern = '['.repeat(65_000)
    expect(plan({ structured_outputs: { regex: pattern } })?.form.kind).toBe('regex')
  })

  it('refuses what is too long before it looks into it', () => {
    const names = Array.from({ length: 120_000 }, (_, at) => `k${at}`)
    const schema = { type: 'object', required: names }
    const json_schema = { name: 'x', schema }
    expect(() => plan({ response_format: { type: 'json_schema', json_schema } })).toThrow(
      'schema may have 1048576 characters at the most.',
    )
    const regex = `${'a'.repeat(65_536)}^a`
    expect(() => plan({ structured_outputs: { regex } })).toThrow(
      'structured_outputs.regex may have 65536 characters at the most.',
    )
  })

  it.each<[object]>([
    [{ not: {} }],
    [{ properties: { a: { multipleOf: 2 } } }],
    [{ items: { uniqueItems: true } }],
    [{ $defs: { x: { contains: {} } } }],
    [{ anyOf: [{ type: 'string' }], minLength: 2 }],
    [{ allOf: [{ type: 'string' }, { minLength: 2 }] }],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }],
    [{ oneOf: [{ const: 1 }, { const: 1, title: 'x' }] }],
    [{ oneOf: [{ const: 1 }, { type: 'integer' }] }],
    [{ oneOf: [{ type: 'object', properties: {} }, { type: 'object' }] }],
    [{ oneOf: [{ minLength: 2 }, { type: 'null' }] }],
    [{ type: 'string', pattern: 'a', maxLength: 3 }],
    [{ properties: { 'a"b': {} } }],
    [{ type: 'object', required: ['a'] }],
    [{ type: 'integer', enum: [1, 1.5] }],
    [{ type: ['string', 'array'], enum: ['a', null] }],
    [{ type: 'string', const: 5 }],
    [{ enum: [] }],
    [{ enum: [1, 2], minimum: 2 }],
    [{ minimum: 3 }],
    [{ minLength: 3 }],
    [{ pattern: '^a$' }],
    [{ maxItems: 2 }],
    [{ type: 'integer', minimum: 3, maximum: 2 }],
    [{ type: 'string', pattern: 'a.c' }],
    [{ type: 'string', pattern: '[^a]' }],
    [{ type: 'string', pattern: '[ -~]' }],
    [{ type: 'string', pattern: '\\s' }],
    [{ type: 'string', pattern: 'a$b' }],
    [{ type: 'string', pattern: '(^a|b)' }],
    [{ type: 'string', pattern: '[a-ü]' }],
    [{ type: 'string', pattern: '[\\u4e00-\\u9fff]' }],
    [{ $ref: 'https://example.com/schema' }],
    [{ items: { $ref: '#anchor' } }],
  ])('refuses the schema %j, which cannot be enforced', (json) => {
    const text = JSON.stringify(json)
    expect(() => plan({ structured_outputs: { json: text } })).toThrow(
      refusal('structured_outputs.json'),
    )
  })

  it.each([
    ...['[éü]+', '[^é]', '[\\u4e00-\\u9fff]', '[\\x80-\\x90]', '[\\u{1f600}]', 'a$b', '(^a|b)'],
    ...['\\A\\d+\\Z', '[a\\Q]', '[^\\W_]', '[^a\\S]', '[\\w-z]', '[^-\\d-z]', '[a-\\d]'],
  ])('refuses the regex %s, which cannot be enforced, alone and in a structural tag', (regex) => {
    expect(() => plan({ structured_outputs: { regex } })).toThrow(
      refusal('structured_outputs.regex'),
    )
    const format = {
      type: 'tag',
      begin: 'a',
      content: { type: 'regex', pattern: regex },
      end: 'b',
    }
    const structural_tag = JSON.stringify({ type: 'structural_tag', format })
    expect(() => plan({ structured_outputs: { structural_tag } })).toThrow(
      refusal('structured_outputs.structural_tag'),
    )
  })

  it.each([
    '[^-\\w]',
    '[\\w.-]',
    '[^\\\\D]',
    '[\\W\\d]',
    '\\\\A',
    'é|ü',
    '^x|y$',
    '[\\u0041-\\x5a]',
    '\\^[\\]$^]',
    '\\u00e9',
  ])('takes the regex %s', (regex) => {
    expect(plan({ structured_outputs: { regex } })).not.toBeNull()
  })

  it.each([true, false])('takes a choice beside json_object false, given first: %s', (isFirst) => {
    const off = { json_object: false }
    const choice = { choice: ['a'] }
    const structured_outputs = isFirst ? { ...off, ...choice } : { ...choice, ...off }
    const form = { kind: 'texts', texts: ['a'] }
    expect(plan({ structured_outputs })).toEqual({ param: 'structured_outputs.choice', form })
  })

  it('refuses such a schema in a structural tag too', () => {
    const schema = { type: 'array', items: { not: {} } }
    const structures = [{ begin: '<a>', schema, end: '</a>' }]
    const old = { type: 'structural_tag' as const, structures, triggers: ['<a>'] }
    expect(() => plan({ response_format: old })).toThrow(refusal('response_format'))
    const elements = [{ type: 'json_schema', json_schema: schema }]
    const tag = { type: 'structural_tag', format: { type: 'sequence', elements } }
    const structured_outputs = { structural_tag: JSON.stringify(tag) }
    expect(() => plan({ structured_outputs })).toThrow(refusal('structured_outputs.structural_tag'))
  })

  it.each<[object]>([
    [{ properties: { not: { type: 'string' }, if: {} } }],
    [{ enum: [{ not: 1 }], title: 'x' }],
    [{ type: 'string', enum: ['a', 'b'] }],
    [{ items: { format: 'password' }, minItems: 2 }],
    [{ type: ['integer', 'null', 'boolean'], enum: [1, null, true] }],
    [{ type: ['number', 'array', 'object'], enum: [0.5, [1], { a: 1 }] }],
    [{ type: 'string', const: 'a' }],
    [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }],
    [{ oneOf: [{ const: 1 }, { const: 2 }] }],
    [{ oneOf: [], discriminator: { propertyName: 'k' } }],
    [{ type: 'string', pattern: '^[A-Z]\\d{2}(-|\\.)[a-z]+$' }],
  ])('takes the schema %j', (json) => {
    expect(plan({ structured_outputs: { json: JSON.stringify(json) } })).not.toBeNull()
  })

  it('refuses a format only where the schema is strict', () => {
    const schema = { type: 'string', format: 'date', maxLength: 3 }
    const formatOf = (strict: boolean | null) => ({
      response_format: { type: 'json_schema' as const, json_schema: { name: 'x', schema, strict } },
    })
    expect(plan(formatOf(null))?.form).toMatchObject({ schema: '{"type":"string","maxLength":3}' })
    expect(() => plan(formatOf(true))).toThrow(
      'response_format.json_schema.schema uses format, which cannot be enforced.',
    )
  })

  it('refuses white space that would not be JSON, and constraints that are too long', () => {
    const spaced = (whitespace_pattern: string): Fields => ({
      structured_outputs: { json: '{}', whitespace_pattern },
    })
    for (const bad of ['a', '[^x]', '\\S', '.', '\\d', '1']) {
      expect(() => plan(spaced(bad))).toThrow(refusal('structured_outputs.whitespace_pattern'))
    }
    for (const good of ['', ' ?', '\\s*', '[ \\n]{0,2}', '( |\\t)+']) plan(spaced(good))
    const regex = 'a'.repeat(65_537)
    expect(() => plan({ structured_outputs: { regex } })).toThrow(
      refusal('structured_outputs.regex'),
    )
  })

  it('closes an object without named properties, and any that may be one', () => {
    expect(closeObjects({ type: 'object' })).toEqual({
      type: 'object',
      additionalProperties: false,
    })
    const items = { type: ['object', 'null'] }
    expect(closeObjects({ type: 'array', items })).toEqual({
      type: 'array',
      items: { ...items, additionalProperties: false },
    })
    expect(closeObjects({ type: 'string' })).toEqual({ type: 'string' })
  })

  it('closes the objects of a schema and nothing that only looks like one', () => {
    expect(
      closeObjects({
        properties: { additionalProperties: { additionalProperties: { type: 'string' } } },
        enum: [{ additionalProperties: true }],
        additionalProperties: true,
      }),
    ).toEqual({
      properties: { additionalProperties: { additionalProperties: false } },
      enum: [{ additionalProperties: true }],
      additionalProperties: false,
    })
  })
})

describe('an answer in a form', () => {
  const engine = createEngine(readFileSync(TINY_MODEL_PATH))
  const ask = async (fields: Fields, index = 0) =>
    choiceIn(await runWaiting(engine, { messages, temperature: 0, ...fields }), index)
  const schema = {
    type: 'object',
    properties: { answer: { type: 'string' }, sure: { type: 'boolean' } },
    required: ['answer', 'sure'],
  }

  it('is the model’s own answer where the form allows it', async () => {
    const { text, finish_reason } = await ask({ response_format: { type: 'json_object' } })
    expect(JSON.parse(text)).toEqual({ answer: 'cold' })
    expect(finish_reason).toBe('stop')
  })

  it('keeps a schema in every choice', async () => {
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'x', schema } }
    const fields = { response_format, n: 6, temperature: 1, max_tokens: 200 }
    const deltas = await runWaiting(engine, { messages, ...fields })
    for (let index = 0; index < 6; index++) {
      const { text, finish_reason } = choiceIn(deltas, index)
      if (finish_reason === 'stop') {
        expect(JSON.parse(text)).toEqual({ answer: expect.any(String), sure: expect.any(Boolean) })
      } else expect(finish_reason).toBe('length')
    }
  })

  it('has the white space that was asked for', async () => {
    const json = { type: 'array', items: { type: 'integer', maximum: 9, minimum: 0 }, minItems: 2 }
    const text = async (more: object) =>
      (await ask({ structured_outputs: { json, ...more }, seed: 5, temperature: 1.5 })).text
    expect(await text({ disable_any_whitespace: true })).toMatch(/^\[\d(,\d)+\]$/)
    expect(await text({ whitespace_pattern: ' \\n' })).toMatch(/^\[ \n\d( \n, \n\d)+ \n\]$/)
  })

  it('has further properties only where the schema and the switch let it', async () => {
    const open = { type: 'object', additionalProperties: { const: 1 }, properties: {} }
    const names = async (more: object) => {
      const found = new Set<string>()
      for (let seed = 0; seed < 12; seed++) {
        const fields = { structured_outputs: { json: open, ...more }, seed, temperature: 2 }
        const { text, finish_reason } = await ask({ ...fields, max_tokens: 60 })
        if (finish_reason === 'stop') for (const key in JSON.parse(text)) found.add(key)
      }
      return found.size
    }
    expect(await names({})).toBeGreaterThan(0)
    expect(await names({ disable_additional_properties: true })).toBe(0)
  })

  it('says length when it was cut off, by max_tokens or by other bans', async () => {
    const fields = { structured_outputs: { regex: '[a-z]{30}' } }
    expect(await ask({ ...fields, max_tokens: 3 })).toMatchObject({ finish_reason: 'length' })
    const banned = { ...fields, allowed_token_ids: [engine.tokenizer.encode('7')[0]!] }
    expect(await ask(banned)).toMatchObject({ tokens: 0, text: '', finish_reason: 'length' })
  })

  it('ends with its grammar also when the end token is ignored', async () => {
    const { text, finish_reason } = await ask({
      structured_outputs: { choice: ['warm'] },
      ignore_eos: true,
    })
    expect({ text, finish_reason }).toEqual({ text: 'warm', finish_reason: 'stop' })
  })

  it('has constrained pieces in free text with a structural tag', async () => {
    const format = {
      type: 'sequence',
      elements: [
        { type: 'const_string', value: 'n=' },
        { type: 'regex', pattern: '[0-9]{3}' },
      ],
    }
    const structural_tag = JSON.stringify({ type: 'structural_tag', format })
    expect((await ask({ structured_outputs: { structural_tag } })).text).toMatch(/^n=\d{3}$/)
    const older = { structures: [{ begin: '<f>', schema: {}, end: '</f>' }], triggers: ['<f'] }
    const response_format = { type: 'structural_tag' as const, ...older }
    expect((await ask({ response_format })).text).toContain('cold')
  })

  it.each<[string, Fields]>([
    ['structured_outputs.regex', { structured_outputs: { regex: '(?=a)b' } }],
    ['structured_outputs.grammar', { structured_outputs: { grammar: 'rot ::= "a"' } }],
    ['structured_outputs.structural_tag', { structured_outputs: { structural_tag: '{}' } }],
    ['structured_outputs.json', { structured_outputs: { json: { type: 'objekt' } } }],
    ['use_beam_search', { structured_outputs: { regex: 'a' }, use_beam_search: true }],
  ])('is refused by the name %s when it is none', async (param, fields) => {
    await expect(async () => await ask(fields)).rejects.toMatchObject({
      code: 'invalid_value',
      param,
    })
  })
})
