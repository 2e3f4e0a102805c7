/** Text formats as Zod writes them, each with a pattern of its own: an answer keeps both. */
import { readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { planConstraint } from '../../../src/inference/tiny/constraints/constraint-plan.ts'
import { settleFormat } from '../../../src/inference/tiny/constraints/patterns/format-patterns.ts'
import {
  FORMAT_EXPRESSIONS,
  listFormat,
} from '../../../src/inference/tiny/constraints/patterns/text-formats.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { choiceIn, runWaiting, withShortMemory } from '../running.ts'

const engine = withShortMemory(createEngine(readFileSync(TINY_MODEL_PATH)))
const messages = [{ role: 'user', content: 'What is the opposite of hot?' }]

const isDay = (text: string) => {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}
const DATE_TIME = /^(.{10})T([01]\d|2[0-3])(:[0-5]\d){2}(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const HOST = new RegExp(`^${LABEL}(\\.${LABEL})*$`, 'i')
/** The formats as their standards have them. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDay,
  'date-time': (text) => isDay(DATE_TIME.exec(text)?.[1] ?? ''),
  duration: (text) =>
    /^P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)$/.test(text),
  email: (text) => {
    const [local = '', host = '', ...more] = text.split('@')
    const isLocal = /^[^\s".]+(\.[^\s".]+)*$/.test(local) && local.length <= 64
    return isLocal && HOST.test(host) && host.length <= 255 && more.length === 0
  },
  hostname: (text) => HOST.test(text) && text.length <= 253,
  ipv4: isIPv4,
  ipv6: isIPv6,
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
}

const TYPES: Readonly<Record<string, z.ZodType>> = {
  'z.email()': z.email(),
  'z.email() of HTML': z.email({ pattern: z.regexes.html5Email }),
  'z.email() of RFC 5322': z.email({ pattern: z.regexes.rfc5322Email }),
  'z.email() of Unicode': z.email({ pattern: z.regexes.unicodeEmail }),
  'z.uuid()': z.uuid(),
  'z.uuidv4()': z.uuidv4(),
  'z.uuidv7()': z.uuidv7(),
  'z.guid()': z.guid(),
  'z.ipv4()': z.ipv4(),
  'z.ipv6()': z.ipv6(),
  'z.hostname()': z.hostname(),
  'z.iso.date()': z.iso.date(),
  'z.iso.datetime()': z.iso.datetime(),
  'z.iso.datetime() with an offset': z.iso.datetime({ offset: true }),
  'z.iso.datetime() of seconds': z.iso.datetime({ precision: 0 }),
  'z.iso.datetime() of milliseconds': z.iso.datetime({ precision: 3, offset: true }),
  'z.iso.duration()': z.iso.duration(),
}
/** Types of which JSON Schema has no format: their pattern is all there is to keep. */
const FREE_TYPES: Readonly<Record<string, z.ZodType>> = {
  'z.iso.time()': z.iso.time(),
  'z.iso.datetime() without a zone': z.iso.datetime({ local: true }),
  'z.base64()': z.base64(),
  'z.nanoid()': z.nanoid(),
  'z.e164()': z.e164(),
  'z.mac()': z.mac(),
}
const DAY = z.regexes.date.source.slice(1, -1)
/** As the earlier minor versions of Zod 4 have them. */
const EARLIER: Readonly<Record<string, { format: string; pattern: string }>> = {
  email: {
    format: 'email',
    pattern:
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  },
  uuid: {
    format: 'uuid',
    pattern:
      '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000)$',
  },
  ipv6: {
    format: 'ipv6',
    pattern:
      '^(([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|::|([0-9a-fA-F]{1,4})?::([0-9a-fA-F]{1,4}:?){0,6})$',
  },
  'date-time without seconds or a zone': {
    format: 'date-time',
    pattern: `^${DAY}T(?:(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|))$`,
  },
  'date-time with any offset': {
    format: 'date-time',
    pattern: `^${DAY}T(?:(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?(?:Z|([+-]\\d{2}:\\d{2})))$`,
  },
}
const schemaOf = (type: z.ZodType) => z.toJSONSchema(type) as { format: string; pattern: string }
const withPatterns = Object.entries(TYPES).map(([name, type]) => ({ name, type }))
const pairs = [
  ...withPatterns.map(({ name, type }) => ({ name, schema: schemaOf(type) })),
  ...Object.entries(EARLIER).map(([name, schema]) => ({ name: `earlier ${name}`, schema })),
]

/** Texts of what an answer is held to; null where the engine has a grammar of its own. */
function textsOf({
  format,
  pattern,
}: Readonly<Record<string, unknown>>): fc.Arbitrary<string> | null {
  const expression = pattern ?? FORMAT_EXPRESSIONS[String(format)]
  if (expression !== undefined) return fc.stringMatching(new RegExp(String(expression)))
  const written = listFormat(format)
  if (written === null) return null
  const characters = fc
    .constantFrom(...written)
    .chain((one) => fc.tuple(...one.map((choice) => fc.constantFrom(...choice))))
  return characters.map((all) => JSON.parse(all.join('')))
}

describe('a format beside the pattern of Zod', () => {
  it.each(pairs)('is replaced by what implies both: $name', ({ name, schema }) => {
    expect([name, Object.keys(schema)]).toEqual([
      name,
      expect.arrayContaining(['format', 'pattern']),
    ])
    const single = settleFormat(schema)
    expect([name, single]).not.toEqual([name, null])
    const texts = textsOf(single ?? {})
    if (texts === null) return
    const { format, pattern } = schema
    fc.assert(
      fc.property(texts, (text) => {
        const kept = [new RegExp(pattern).test(text), FORMATS[format]?.(text)]
        expect([text, ...kept]).toEqual([text, true, true])
      }),
      { numRuns: 400, seed: 42 },
    )
  })

  it.each([...withPatterns, ...Object.entries(FREE_TYPES).map(([name, type]) => ({ name, type }))])(
    'is kept by answers: $name',
    async ({ name, type }) => {
      const json = JSON.stringify(
        z.toJSONSchema(z.object({ x: type.nullable() }), { target: 'draft-7' }),
      )
      const { format } = schemaOf(type)
      const isFormat = FORMATS[format] ?? (() => true)
      let texts = 0
      for (let seed = 0; seed < 40 && texts < 6; seed++) {
        const fields = { structured_outputs: { json }, seed, temperature: 1.5, max_tokens: 180 }
        const { text, finish_reason } = choiceIn(await runWaiting(engine, { messages, ...fields }))
        if (finish_reason !== 'stop') continue
        const { x } = JSON.parse(text)
        expect([x, type.nullable().safeParse(x).success]).toEqual([x, true])
        if (x === null) continue
        expect([x, isFormat(x)]).toEqual([x, true])
        texts++
      }
      expect([name, texts > 0]).toEqual([name, true])
    },
    60_000,
  )

  it('is the same where a type has an older name', () => {
    expect(schemaOf(z.string().email())).toEqual(schemaOf(z.email()))
    expect(schemaOf(z.string().datetime())).toEqual(schemaOf(z.iso.datetime()))
  })

  it.each([
    { format: 'email', pattern: '^[a-z]+@[a-z]+$' },
    { format: 'uuid', pattern: '^[a-z]+$' },
    { format: 'time', pattern: '^\\d\\d:\\d\\d$' },
    { format: 'date', pattern: 5 },
  ])('is refused with any other pattern: %j', (rules) => {
    const json = { type: 'string', ...rules }
    expect(() => planConstraint({ messages, structured_outputs: { json } })).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'structured_outputs.json' }),
    )
  })

  it('leaves other rules to a format that is not enforced', () => {
    expect(settleFormat({ type: 'string', format: 'password', minLength: 3 })).toEqual({
      type: 'string',
      minLength: 3,
    })
  })
})
