/** Lists and objects that say nothing of what is in them, wherever they stand in a schema. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { planConstraint } from '../../../src/inference/tiny/constraints/constraint-plan.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { accepts } from './accepts.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
async function takenOf(texts: readonly string[], json: object): Promise<string[]> {
  const structured_outputs = { json: JSON.stringify(json) }
  const constraint = planConstraint({ messages: [], structured_outputs })
  const grammar = await (await engine.grammars()).compile(constraint!)
  const taken: string[] = []
  for (const text of texts) if (await accepts(engine, grammar, text)) taken.push(text)
  grammar.end()
  return taken
}

describe('a list without items', () => {
  const texts = ['null', '[]', '[null]', '["a",{"b":[1]}]', '[1,2,3]']
  const lists = texts.slice(1)

  it.each<[object, string[]]>([
    [{ type: 'array' }, lists],
    [{ type: 'array', minItems: 0 }, lists],
    [{ type: 'array', minItems: 2 }, ['["a",{"b":[1]}]', '[1,2,3]']],
    [{ type: 'array', maxItems: 2 }, ['[]', '[null]', '["a",{"b":[1]}]']],
    [{ type: ['array', 'null'], minItems: 1, maxItems: 1 }, ['null', '[null]']],
    [{ allOf: [{ type: 'array' }] }, lists],
    [{ $ref: '#/$defs/list', $defs: { list: { type: 'array' } } }, lists],
    [{ type: 'array', items: false, maxItems: 2 }, ['[]']],
    [{ type: 'array', prefixItems: [{ type: 'null' }], maxItems: 2 }, ['[null]']],
  ])('takes any items, in the number that %j says', async (json, taken) => {
    expect(await takenOf(texts, json)).toEqual(taken)
  })
})

describe('an object without properties', () => {
  const texts = ['null', '{}', '{"a":1}', '{"a":{"b":[1]},"c":"x"}']
  const objects = texts.slice(1)

  it.each<[object, string[]]>([
    [{ type: 'object' }, objects],
    [{ type: ['object', 'null'] }, texts],
    [{ allOf: [{ type: 'object' }] }, objects],
    [{ $ref: '#/$defs/one', $defs: { one: { type: 'object' } } }, objects],
    [{ type: 'object', properties: {} }, ['{}']],
    [{ type: 'object', additionalProperties: false }, ['{}']],
  ])('takes what %j lets in', async (json, taken) => {
    expect(await takenOf(texts, json)).toEqual(taken)
  })
})
