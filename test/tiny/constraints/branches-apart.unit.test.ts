/** Branches of a oneOf that exclude each other, and those that do not. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { createBranchCheck } from '../../../src/inference/tiny/constraints/branches-apart.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { choiceIn, runWaiting, withShortMemory } from '../running.ts'

const object = (properties: object, ...required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const kind = (...values: unknown[]) => object({ k: { enum: values } }, 'k')
const $defs = {
  a: kind('a'),
  'b/c': object({ k: { $ref: '#/$defs/letter' } }, 'k'),
  letter: { type: 'string', const: 'b' },
  twin: { $ref: '#/$defs/a' },
  loop: { $ref: '#/$defs/loop' },
}
const areApart = (oneOf: readonly unknown[]) => createBranchCheck({ oneOf, $defs })(oneOf)
const ref = (name: string) => ({ $ref: `#/$defs/${name}` })

describe('the branches of a oneOf', () => {
  it.each<[unknown[]]>([
    [[{ type: 'integer' }, { type: 'string' }]],
    [[{ type: ['string', 'null'] }, { type: 'number' }]],
    [[{ const: 1 }, { const: 2 }]],
    [[{ const: 'a' }, { type: 'number' }, { enum: [null, 'b', 'b'] }]],
    [[{ const: [1] }, { const: [2] }]],
    [[kind('a'), kind('b', 'c'), { type: 'null' }]],
    [[object({ k: { const: 'a' } }, 'k'), object({ k: { const: 'b' } }, 'k')]],
    [[object({ k: { type: 'string' } }, 'k'), object({ k: { type: 'integer' } }, 'k')]],
    [[ref('a'), ref('b~1c')]],
    [[kind('x')]],
  ])('exclude each other in %j', (branches) => {
    expect(areApart(branches)).toBe(true)
  })

  it.each<[unknown[]]>([
    [[{ type: 'integer' }, { type: 'number' }]],
    [[{ type: ['string', 'null'] }, { type: 'null' }]],
    [[{ const: 1 }, { enum: [2, 1] }]],
    [[{ const: 1 }, { type: 'integer' }]],
    [[{ const: { a: 1, b: 2 } }, { const: { b: 2, a: 1 } }]],
    [[{ const: {} }, kind('a')]],
    [[kind('a', 'b'), kind('b')]],
    [[object({ k: { const: 'a' } }), object({ k: { const: 'b' } }, 'k')]],
    [[{ ...kind('a'), type: undefined }, kind('b')]],
    [[{ ...kind('a'), type: ['object', 'null'] }, kind('b')]],
    [[kind('a'), object({ l: { const: 'b' } }, 'l')]],
    [[object({}, 'k'), kind('b')]],
    [[ref('a'), ref('twin')]],
    [[ref('a'), ref('loop')]],
    [[ref('a'), ref('none')]],
    [[{ minLength: 2 }, { type: 'null' }]],
    [[true, { type: 'null' }]],
  ])('may both hold in %j', (branches) => {
    expect(areApart(branches)).toBe(false)
  })

  it('are given up when there is too much to look at', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `name${index}`)
    const property = Object.fromEntries(names.map((name) => [name, { enum: [1] }]))
    const shared = { a: object(property, ...names), b: object(property, ...names) }
    const check = createBranchCheck({ $defs: shared })
    const plain = [{ const: 1 }, { const: 2 }]
    expect(check(plain)).toBe(true)
    for (let list = 0; list < 100; list++) check([ref('a'), ref('b')])
    expect(check(plain)).toBe(false)
  })
})

describe('an answer that is one of several objects', () => {
  const engine = withShortMemory(createEngine(readFileSync(TINY_MODEL_PATH)))
  const cat = object({ kind: { const: 'cat', title: 'Kind' }, lives: { type: 'integer' } }, 'kind')
  const dog = object({ kind: { const: 'dog' }, name: { enum: ['Rex', 'Bo'] } }, 'kind', 'name')
  const pet = {
    discriminator: { mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' }, propertyName: 'kind' },
    oneOf: [ref('Cat'), ref('Dog')],
    title: 'Pet',
  }
  const zod = z.toJSONSchema(
    z.object({
      pet: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('cat'), lives: z.int() }),
        z.object({ kind: z.enum(['dog', 'fox']), name: z.enum(['Rex', 'Bo']) }),
      ]),
    }),
    { target: 'draft-7' },
  )
  it.each<[string, object]>([
    ['of pydantic', { ...object({ pet }, 'pet'), $defs: { Cat: cat, Dog: dog } }],
    ['of Zod', zod],
  ])('keeps the schema %s', async (_name, json) => {
    const ajv = new Ajv({ strict: false })
    const kinds = new Set<string>()
    for (let seed = 0; seed < 16; seed++) {
      const messages = [{ role: 'user', content: 'What is the opposite of hot?' }]
      const constraint = { structured_outputs: { json: JSON.stringify(json) } }
      const fields = { messages, ...constraint, seed, temperature: 2, max_tokens: 120 }
      const { text, finish_reason } = choiceIn(await runWaiting(engine, fields))
      if (finish_reason !== 'stop') continue
      const value = JSON.parse(text)
      expect([text, ajv.validate(json, value)]).toEqual([text, true])
      kinds.add(value.pet.kind)
    }
    expect(kinds.size).toBeGreaterThan(1)
  })
})
