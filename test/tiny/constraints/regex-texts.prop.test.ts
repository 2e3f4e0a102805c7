/** Regular expressions against those of JavaScript, through the real engine: which texts are whole answers. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { planConstraint } from '../../../src/inference/tiny/constraints/constraint-plan.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import type { StructuredOutputs } from '../../../src/schemas/chat/structured-outputs.ts'
import { accepts } from './accepts.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))

/** All texts of a, b and c up to a length. */
const textsUpTo = (length: number): string[] =>
  length === 0
    ? ['']
    : ['', ...textsUpTo(length - 1).flatMap((text) => ['a', 'b', 'c'].map((one) => one + text))]
const TEXTS = [...new Set(textsUpTo(4))]

const piece = fc
  .tuple(
    fc.constantFrom('[ab]', '[bc]', 'a', '[^a]', '\\w', '.'),
    fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{1,}', '*?'),
  )
  .map(([atom, times]) => atom + times)
const listOf = (item: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(item, { minLength: 1, maxLength })
const sequence = listOf(piece, 4).map((pieces) => pieces.join(''))
const group = fc
  .tuple(listOf(sequence, 2), fc.constantFrom('', '*', '+', '?'))
  .map(([alternatives, times]) => `(?:${alternatives.join('|')})${times}`)
const regex = listOf(
  fc.oneof({ weight: 3, arbitrary: piece }, { weight: 1, arbitrary: group }),
  4,
).map((parts) => parts.join(''))

/** The texts of which a constraint thinks otherwise than a pattern. */
async function findFaults(
  structured_outputs: StructuredOutputs,
  pattern: string,
  write = (text: string) => text,
): Promise<string[]> {
  const constraint = planConstraint({ messages: [], structured_outputs })
  if (constraint === null) throw new Error('no constraint')
  const grammar = await (await engine.grammars()).compile(constraint)
  const whole = new RegExp(`^(?:${pattern})$`, 'u')
  const faults: string[] = []
  for (const text of TEXTS) {
    if ((await accepts(engine, grammar, write(text))) !== whole.test(text)) faults.push(text)
  }
  grammar.end()
  return faults
}

const inTag = (pattern: string): StructuredOutputs => {
  const format = { type: 'regex', pattern }
  return { structural_tag: JSON.stringify({ type: 'structural_tag', format }) }
}
const inSchema = (pattern: string): StructuredOutputs => ({
  json: { type: 'string', pattern: `^(?:${pattern})$` },
})

describe('a regular expression', () => {
  it.each(['[ab]*[ab]c', '\\w*\\wc', '([ab]*)[ab]c', '[ab]*?[a-b][ab]'])(
    'keeps repeated characters apart from the same ones behind them: %s',
    async (pattern) => {
      expect(await findFaults({ regex: pattern }, pattern)).toEqual([])
      expect(await findFaults(inTag(pattern), pattern)).toEqual([])
      expect(await findFaults(inSchema(pattern), pattern, (text) => `"${text}"`)).toEqual([])
    },
  )

  it('accepts the texts that it has and no others', async () => {
    await fc.assert(
      fc.asyncProperty(regex, async (pattern) => {
        expect([pattern, await findFaults({ regex: pattern }, pattern)]).toEqual([pattern, []])
      }),
      { numRuns: 40 },
    )
  })
})
