/** Answers that are held to a grammar keep it, whatever the grammar. WEFT_TEST_GRAMMARS sets how many. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import {
  listPatterns,
  readRange,
} from '../../../src/inference/tiny/constraints/patterns/number-ranges.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { choiceIn, type Fields, runWaiting, withShortMemory } from '../running.ts'

const GRAMMARS = Number(process.env.WEFT_TEST_GRAMMARS ?? 60)
const engine = withShortMemory(createEngine(readFileSync(TINY_MODEL_PATH)))
const ajv = new Ajv({ strict: false, validateFormats: false })

async function answer(fields: Fields) {
  const messages = [{ role: 'user', content: 'What is the opposite of hot?' }]
  return choiceIn(await runWaiting(engine, { messages, max_tokens: 64, ...fields }))
}

const name = fc.constantFrom('a', 'b', 'name', 'long name', 'ü')
const bounds = (low: string, high: string, max: number) =>
  fc.tuple(fc.option(fc.nat(max)), fc.option(fc.nat(max))).map(([from, size]) => ({
    ...(from === null ? {} : { [low]: from }),
    ...(size === null ? {} : { [high]: (from ?? 0) + size }),
  }))
const leaf = fc.oneof(
  bounds('minimum', 'maximum', 300).map((range) => ({ type: 'integer', ...range })),
  bounds('minimum', 'maximum', 30).map((range) => ({ type: 'number', ...range })),
  fc.constantFrom(
    { type: 'number', exclusiveMinimum: 0.5, maximum: 0.75 },
    { type: 'number', exclusiveMaximum: -3 },
    { type: 'integer', exclusiveMinimum: 9, exclusiveMaximum: 12 },
  ),
  fc.constant({ type: 'boolean' }),
  fc.constant({ type: 'null' }),
  bounds('minLength', 'maxLength', 8).map((range) => ({ type: 'string', ...range })),
  fc
    .constantFrom('^[a-c]{2,4}$', '^(red|green)$', '^x|y$', '^\\\\d{3}-\\\\d{2}$')
    .map((pattern) => ({
      type: 'string',
      pattern: pattern.replaceAll('\\\\', '\\'),
    })),
  fc.constantFrom('string', ['string', 'null']).map((type) => ({ type, format: 'date' })),
  fc.constantFrom(
    { enum: ['red', 2, null, true] },
    { type: ['string', 'null'], enum: ['red', null] },
    { const: 'fixed "value"' },
    { type: 'integer', const: 7 },
  ),
)
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      minItems: fc.nat(2),
      maxItems: fc.integer({ min: 2, max: 4 }),
    }),
    fc
      .uniqueArray(fc.tuple(name, tie('schema'), fc.boolean()), {
        selector: ([key]) => key,
        maxLength: 4,
      })
      .map((properties) => ({
        type: 'object',
        properties: Object.fromEntries(properties.map(([key, value]) => [key, value])),
        required: properties.filter(([, , isRequired]) => isRequired).map(([key]) => key),
        additionalProperties: false as unknown,
      })),
    fc
      .uniqueArray(fc.tuple(name, leaf), { selector: ([key]) => key, minLength: 1, maxLength: 3 })
      .chain((properties) =>
        fc.constantFrom(true, { type: 'integer' }).map((additionalProperties) => ({
          type: 'object',
          properties: Object.fromEntries(properties),
          additionalProperties,
        })),
      ),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
}))

const JSON_TOKEN = /"(?:\\.|[^"\\])*"|[^\s"{}[\],:]+|[{}[\],:]/
/** Switches of the white space, with what may then stand between the tokens of JSON. */
const spaces: [object, RegExp][] = [
  [{}, /^[ \n\t]*$/],
  [{ disable_any_whitespace: true }, /^$/],
  [{ whitespace_pattern: '' }, /^$/],
  [{ whitespace_pattern: '[ ]{2}' }, /^ {2}$/],
  [{ whitespace_pattern: '\\s{0,2}' }, /^\s{0,2}$/],
  [{ whitespace_pattern: '( |\\n\\n){1,2}' }, /^( |\n\n){1,2}$/],
]

const atom = fc.constantFrom('a', 'Z', '7', '[a-f]', '[^x-z]', '\\d', '\\w', '.', 'ü', '\\.', ' ')
const { regex } = fc.letrec<{ regex: string }>((tie) => ({
  regex: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => a + b),
    fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('regex'), fc.constantFrom('?', '{2}', '{1,3}', '+', '*'))
      .map(([a, times]) => `(${a})${times}`),
  ),
}))

/** The patterns as one regular expression. */
const toRegExp = (patterns: readonly (readonly string[])[]) => {
  const texts = patterns.map((pattern) => pattern.map((one) => `[${one}]`).join(''))
  return new RegExp(`^(?:${texts.join('|')})$`)
}

describe('a range of numbers', () => {
  it.each([
    ['integer', 1],
    ['number', 100],
  ])('has the values of type %s within its bounds and no others', (type, scale) => {
    const bound = fc.integer({ min: -3_000, max: 3_000 }).map((units) => units / scale)
    const names = fc.constantFrom(
      ['minimum', 'maximum'],
      ['exclusiveMinimum', 'exclusiveMaximum'],
      ['minimum', 'exclusiveMaximum'],
      ['minimum'],
      ['maximum'],
    )
    fc.assert(
      fc.property(names, bound, bound, fc.array(bound), ([first, second], a, b, tries) => {
        const bounds = { [first!]: a, ...(second === undefined ? {} : { [second]: b }) }
        const pattern = toRegExp(listPatterns(readRange({ type, ...bounds })!))
        const validate = ajv.compile({ type, ...bounds })
        const near = [a, b].flatMap((n) => [n - 10, n - 1 / scale, n, n + 1 / scale, n + 10])
        for (const value of [...tries, ...near, 0]) {
          const text = type === 'integer' ? `${value}` : value.toFixed(2)
          expect([text, pattern.test(text)]).toEqual([text, validate(Number(text))])
        }
      }),
      { numRuns: 150 },
    )
  })
})

const takes = (schema: object, text: string) =>
  toRegExp(listPatterns(readRange({ ...schema })!)).test(text)

describe('a number with bounds', () => {
  it('has up to two decimals more than these', () => {
    const share = { type: 'number', minimum: 0, maximum: 1 }
    for (const text of ['0', '1', '0.5', '0.95', '1.00']) expect(takes(share, text)).toBe(true)
    for (const text of ['-0.1', '1.01', '2', '0.955', '.5', '00']) {
      expect(takes(share, text)).toBe(false)
    }
    expect(takes({ type: 'number', exclusiveMinimum: 0.25 }, '0.2501')).toBe(true)
    expect(takes({ type: 'number', exclusiveMinimum: 0.25 }, '0.25')).toBe(false)
  })
})

describe('a bound that a number of 64 bits cannot be next to', () => {
  it('is kept', () => {
    const whole = { type: 'integer' }
    expect(takes({ type: 'number', minimum: 1e-10 }, '0.0')).toBe(false)
    expect(takes({ type: 'number', exclusiveMinimum: 1e17 }, `1${'0'.repeat(17)}.0`)).toBe(false)
    const most = Number.MAX_SAFE_INTEGER
    expect(takes({ type: 'number', exclusiveMaximum: most }, `${most}`)).toBe(false)
    expect(takes({ ...whole, exclusiveMaximum: most }, `${most}`)).toBe(false)
    expect(takes({ ...whole, exclusiveMaximum: 1e21 }, `1${'0'.repeat(21)}`)).toBe(false)
    expect(takes({ ...whole, exclusiveMinimum: 2 ** 53 }, `${2 ** 53}`)).toBe(false)
    expect(takes({ ...whole, minimum: -most, maximum: most }, `-${'9'.repeat(15)}`)).toBe(true)
  })

  it('does not count where it is the largest of all numbers', () => {
    const largest = Number.MAX_VALUE
    const finite = { type: 'number', minimum: -largest, maximum: largest }
    expect(takes(finite, '-12.5')).toBe(true)
    expect(takes({ type: 'number', maximum: 1e308 }, '0.5')).toBe(true)
    expect(listPatterns(readRange({ type: 'number', minimum: 1e308 })!)).toEqual([])
    expect(listPatterns(readRange({ type: 'integer', maximum: -largest })!)).toEqual([])
  })
})

describe('a constrained answer', () => {
  it('keeps any JSON Schema', async () => {
    let finished = 0
    await fc.assert(
      fc.asyncProperty(
        schema,
        fc.nat(1_000),
        fc.constantFrom(...spaces),
        async (json, seed, [space, between]) => {
          const structured_outputs = { json: JSON.stringify(json), ...space }
          const { text, finish_reason } = await answer({
            structured_outputs,
            seed,
            temperature: 1.5,
          })
          if (finish_reason === 'length') return
          finished++
          const value = JSON.parse(text)
          expect([ajv.validate(json, value), ajv.errorsText()]).toEqual([true, 'No errors'])
          // What is empty has no white space inside.
          const filled = text.replaceAll(/\{\}|\[\]/g, '0')
          for (const gap of filled.split(JSON_TOKEN).slice(1, -1)) expect(gap).toMatch(between)
        },
      ),
      { numRuns: GRAMMARS, seed: 42 },
    )
    expect(finished).toBeGreaterThan(GRAMMARS / 2)
  }, 600_000)

  it('keeps any JSON Schema in a structural tag of either form', async () => {
    let finished = 0
    await fc.assert(
      fc.asyncProperty(schema, fc.nat(1_000), fc.boolean(), async (json, seed, isOld) => {
        // The word with which the model begins its answer: in the older form it starts the tag.
        const [begin, end] = ['The', '<end>']
        const content = { type: 'json_schema', json_schema: json }
        const tag = isOld
          ? { triggers: [begin], structures: [{ begin, schema: json, end }] }
          : { format: { type: 'tag', begin, content, end } }
        const structural_tag = JSON.stringify({ type: 'structural_tag', ...tag })
        const { text } = await answer({
          structured_outputs: { structural_tag },
          seed,
          temperature: 1.5,
          max_tokens: 96,
        })
        const part = /^The(.*?)<end>/s.exec(text)?.[1]
        if (part === undefined) return
        finished++
        const value = JSON.parse(part)
        expect([ajv.validate(json, value), ajv.errorsText()]).toEqual([true, 'No errors'])
      }),
      { numRuns: GRAMMARS, seed: 42 },
    )
    expect(finished).toBeGreaterThan(GRAMMARS / 2)
  }, 600_000)

  it('matches any regular expression as a whole', async () => {
    let finished = 0
    await fc.assert(
      fc.asyncProperty(regex, fc.nat(1_000), async (pattern, seed) => {
        const { text, finish_reason } = await answer({
          structured_outputs: { regex: pattern },
          seed,
        })
        if (finish_reason === 'length') return
        finished++
        expect(text).toMatch(new RegExp(`^(?:${pattern})$`, 'u'))
      }),
      { numRuns: GRAMMARS, seed: 42 },
    )
    expect(finished).toBeGreaterThan(GRAMMARS / 2)
  }, 600_000)

  it('has no line end where a regular expression has a point, even if the model wants one', async () => {
    const [id] = engine.tokenizer.encode('\n')
    const fields = { logit_bias: { [id!]: 100 }, max_tokens: 16 }
    const regex = '.{3,6}'
    const tag = { type: 'structural_tag', format: { type: 'regex', pattern: regex } }
    for (const outputs of [{ regex }, { structural_tag: JSON.stringify(tag) }]) {
      expect((await answer({ ...fields, structured_outputs: outputs })).text).toMatch(/^.{3,6}$/)
    }
    const both = { structured_outputs: { regex: '(.|\\n){3}' } }
    expect((await answer({ ...fields, ...both })).text).toBe('\n\n\n')
  })

  it('has line ends that brackets hold bare, and no others', async () => {
    const [id] = engine.tokenizer.encode('\n')
    const fields = { logit_bias: { [id!]: 100 }, max_tokens: 16 }
    const only = { structured_outputs: { regex: '[a\n]{3}' } }
    expect((await answer({ ...fields, ...only })).text).toBe('\n\n\n')
    const none = { structured_outputs: { regex: '[^\n]{3}' } }
    expect((await answer({ ...fields, ...none })).text).toMatch(/^[^\n]{3}$/)
  })

  it('is well-formed, also when the model wants half of a surrogate pair in it', async () => {
    const { tokenizer } = engine
    const ids = Array.from({ length: tokenizer.size }, (_, id) => id)
    const halfOfPair = new Set(['ed', 'a0', '80'])
    const wanted = ids.filter((id) =>
      halfOfPair.has(Buffer.from(tokenizer.bytesOf(id)).toString('hex')),
    )
    expect(wanted.length).toBe(3)
    const { text } = await answer({
      structured_outputs: { json: JSON.stringify({ type: 'string', maxLength: 4 }) },
      logit_bias: Object.fromEntries(wanted.map((id) => [id, 100])),
    })
    expect(text).not.toContain('\ufffd')
    expect([...JSON.parse(text)].length).toBeLessThanOrEqual(4)
  })

  it('is one of the choices', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...'01.-"\\]^\n\u0522é'), maxLength: 6 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 6 }), async (choice) => {
        const fields = { structured_outputs: { choice }, temperature: 2 }
        const { text, finish_reason } = await answer(fields)
        expect(finish_reason).toBe('stop')
        expect(choice).toContain(text)
      }),
      { numRuns: GRAMMARS, seed: 42 },
    )
  }, 600_000)
})
