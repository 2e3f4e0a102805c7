/** Schemas of tools as coding agents send them: none of them makes the request fail, and what can be enforced is. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { findUnsupportedKeyword } from '../../../src/inference/tiny/constraints/json-schema-support.ts'
import { loosenSchema } from '../../../src/inference/tiny/constraints/schema-loosening.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { choiceIn, runWaiting } from '../running.ts'

const text = { type: 'string' }
const object = <Properties extends object>(properties: Properties, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
})

/** Each with what is enforced of it. */
const SCHEMAS: Record<string, [object, object]> = {
  'a oneOf of branches that overlap': [
    object({ target: { oneOf: [object({ id: text }), object({ path: text })] } }),
    object({ target: { anyOf: [object({ id: text }), object({ path: text })] } }),
  ],
  'alternatives of required names': [
    object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
    object({ a: text, b: text }),
  ],
  'names that keep a rule': [
    object({ answers: { type: 'object', propertyNames: text, additionalProperties: text } }),
    object({ answers: { type: 'object', additionalProperties: text } }),
  ],
  'a pattern that could match a quote': [
    object({ url: { type: 'string', pattern: '^https://[^"]+$' } }),
    object({ url: text }),
  ],
  'items that are unique, and a number of steps': [
    object({
      list: { type: 'array', uniqueItems: true, items: { type: 'number', multipleOf: 2 } },
    }),
    object({ list: { type: 'array', items: { type: 'number' } } }),
  ],
  'references inside and outside': [
    object(
      { own: { $ref: '#/$defs/a' }, other: { $ref: 'https://example.com/a' }, no: { $ref: '#/b' } },
      { $defs: { a: object({ next: { $ref: '#/$defs/a' } }) } },
    ),
    object(
      { own: { $ref: '#/$defs/a' }, other: {}, no: {} },
      { $defs: { a: object({ next: { $ref: '#/$defs/a' } }) } },
    ),
  ],
  'required names without properties': [
    { type: 'object', required: ['a'] },
    { type: 'object', required: ['a'], properties: { a: {} } },
  ],
  'a type that there is not': [object({ a: { type: 'file', pattern: 'x' } }), object({ a: {} })],
  'a value of another type': [
    object({ a: { type: 'string', enum: ['a', 1] } }),
    object({ a: text }),
  ],
}

describe('loosenSchema', () => {
  it.each(Object.entries(SCHEMAS))(
    'leaves out of %s what cannot be enforced',
    (_name, [given, left]) => {
      expect(findUnsupportedKeyword(given, true)).not.toBeNull()
      expect(loosenSchema({ ...given })).toEqual(left)
    },
  )

  it('changes nothing that can be enforced', () => {
    const schema = object(
      {
        mode: { anyOf: [{ const: 'read' }, { const: 'write' }] },
        limit: { type: 'number', exclusiveMinimum: 0, maximum: 9007199254740991 },
        link: { type: 'string', format: 'uri' },
        tags: { type: 'array', items: text, minItems: 1 },
        of: { oneOf: [text, { type: 'null' }] },
      },
      { required: ['mode'], additionalProperties: false },
    )
    const { of, ...properties } = schema.properties
    expect(loosenSchema({ ...schema })).toEqual({
      ...schema,
      properties: { ...properties, of: { anyOf: of.oneOf } },
    })
  })

  it('leaves any object of a schema that is too deep or nests without an end', () => {
    let deep: object = text
    for (let level = 0; level < 500; level++) deep = { type: 'array', items: deep }
    expect(findUnsupportedKeyword(loosenSchema(object({ deep })), false)).toBeNull()
  })
})

describe('tools of which one cannot be enforced', () => {
  const engine = createEngine(readFileSync(TINY_MODEL_PATH))
  const add = object({ a: { type: 'integer' }, b: { type: 'integer' } }, { required: ['a', 'b'] })
  const toolOf = (name: string, parameters: object, strict?: boolean) => ({
    type: 'function' as const,
    function: { name, parameters: { ...parameters }, ...(strict !== undefined && { strict }) },
  })
  const messages = [{ role: 'user', content: 'What is 3 plus 4?' }]

  it('are all called, and calls conform to what is left of their schemas', async () => {
    const ajv = new Ajv({ strict: false })
    const tools = [
      toolOf('add', add, true),
      ...Object.values(SCHEMAS).map(([given], place) => toolOf(`tool_${place}`, given)),
    ]
    let count = 0
    for (const [place, left] of [add, ...Object.values(SCHEMAS).map(([, one]) => one)].entries()) {
      const { name } = tools[place]!.function
      const fields = { messages, tools, max_tokens: 120, seed: 1 }
      const tool_choice = { type: 'function' as const, function: { name } }
      const { calls, finish_reason } = choiceIn(
        await runWaiting(engine, { ...fields, tool_choice }),
      )
      if (finish_reason === 'length') continue
      expect(calls.map((call) => call.name)).toEqual([name])
      expect(ajv.validate(left, JSON.parse(calls[0]?.arguments ?? ''))).toBe(true)
      count += 1
    }
    expect(count).toBeGreaterThan(4)
    const fields = { messages, tools, tool_choice: 'required' as const, max_tokens: 20 }
    expect(choiceIn(await runWaiting(engine, fields)).text).toBe('')
  })

  it('are refused by the name and the path of the one that is strict', async () => {
    const tools = [toolOf('add', add), toolOf('edit', object({ a: { not: {} } }), true)]
    await expect(async () => runWaiting(engine, { messages, tools })).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'tools[1].function.parameters',
      message: expect.stringContaining('edit uses not'),
    })
  })
})
