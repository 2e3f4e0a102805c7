/** Properties that a schema lets come beside the ones that it names. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { planConstraint } from '../../../src/inference/tiny/constraints/constraint-plan.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { accepts } from './accepts.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const named = {
  type: 'object',
  properties: { an: { type: 'integer' }, answer: { type: 'null' }, ä: { type: 'null' } },
  required: ['an'],
}

async function grammarOf(json: Record<string, unknown>, outputs: object = {}) {
  const constraint = planConstraint({ messages: [], structured_outputs: { json, ...outputs } })
  if (constraint === null) throw new Error('no constraint')
  return (await engine.grammars()).compile(constraint)
}

const TEXTS = {
  named: '{"an":1,"answer":null}',
  other: '{"an":1,"answers":1,"a":1,"":1,"bä":1,"b\\n":1}',
  again: '{"an":1,"an":1}',
  wrong: '{"an":1,"answer":1}',
  wide: '{"an":1,"ä":1}',
  escaped: '{"an":1,"answe\\u0072":1}',
  value: '{"an":1,"other":"x"}',
  mark: '{"an":1,"other":"mark-names-0"}',
}

describe('an object with names', () => {
  it.each([
    ['true', { additionalProperties: true }, {}, ['named', 'other', 'value', 'mark']],
    ['a schema', { additionalProperties: { const: 1 } }, {}, ['named', 'other']],
    ['unevaluated', { unevaluatedProperties: { type: 'integer' } }, {}, ['named', 'other']],
    [
      'a schema, no white space',
      { additionalProperties: { const: 1 } },
      { disable_any_whitespace: true },
      ['named', 'other'],
    ],
    [
      'a schema, some white space',
      { additionalProperties: { const: 1 } },
      { whitespace_pattern: '[ ]{0,2}' },
      ['named', 'other'],
    ],
    ['false', { additionalProperties: false }, {}, ['named']],
    ['nothing', {}, {}, ['named']],
    [
      'true, and the switch',
      { additionalProperties: true },
      { disable_additional_properties: true },
      ['named'],
    ],
  ])('takes what its additionalProperties say: %s', async (_name, more, outputs, taken) => {
    const grammar = await grammarOf({ ...named, ...more }, outputs)
    const found: string[] = []
    for (const [name, text] of Object.entries(TEXTS)) {
      if (await accepts(engine, grammar, text)) found.push(name)
    }
    grammar.end()
    expect(found).toEqual(taken)
  })

  it('holds further properties to their own schema, names in it included', async () => {
    const { required, ...inner } = named
    const grammar = await grammarOf({
      ...named,
      additionalProperties: { ...inner, additionalProperties: true },
    })
    expect(await accepts(engine, grammar, '{"an":1,"b":{"an":2,"c":[]}}')).toBe(true)
    expect(await accepts(engine, grammar, '{"an":1,"b":{"an":[]}}')).toBe(false)
    grammar.end()
  })

  it('refuses a reference into them', () => {
    const json = { ...named, additionalProperties: { $ref: '#/additionalProperties' } }
    expect(() => planConstraint({ messages: [], structured_outputs: { json } })).toThrow(
      'additionalProperties',
    )
  })
})
