/** Lists of bounded length that say nothing of their items. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { planConstraint } from '../../../src/inference/tiny/constraints/constraint-plan.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { accepts } from './accepts.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const TEXTS = ['null', '[]', '[null]', '["a",{"b":[1]}]', '[1,2,3]']

describe('a list without items', () => {
  it.each<[object, string[]]>([
    [{ type: 'array' }, ['[]', '[null]', '["a",{"b":[1]}]', '[1,2,3]']],
    [{ type: 'array', minItems: 0 }, ['[]', '[null]', '["a",{"b":[1]}]', '[1,2,3]']],
    [{ type: 'array', minItems: 2 }, ['["a",{"b":[1]}]', '[1,2,3]']],
    [{ type: 'array', maxItems: 2 }, ['[]', '[null]', '["a",{"b":[1]}]']],
    [{ type: ['array', 'null'], minItems: 1, maxItems: 1 }, ['null', '[null]']],
    [{ type: 'array', items: false, maxItems: 2 }, ['[]']],
    [{ type: 'array', prefixItems: [{ type: 'null' }], maxItems: 2 }, ['[null]']],
  ])('takes any items, in the number that %j says', async (json, taken) => {
    const structured_outputs = { json: JSON.stringify(json) }
    const constraint = planConstraint({ messages: [], structured_outputs })
    const grammar = await (await engine.grammars()).compile(constraint!)
    const found: string[] = []
    for (const text of TEXTS) if (await accepts(engine, grammar, text)) found.push(text)
    grammar.end()
    expect(found).toEqual(taken)
  })
})
