/** Grammars of clients against regular expressions of the same texts, through the real engine. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import type { Grammar } from '../../../src/inference/tiny/constraints/grammar-engine.ts'
import {
  hasWideBrackets,
  separateAlternatives,
} from '../../../src/inference/tiny/constraints/grammar-separation.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { accepts } from './accepts.ts'

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const param = 'structured_outputs.grammar'

const compile = async (source: string): Promise<Grammar> =>
  (await engine.grammars()).compile({ form: { kind: 'grammar', source }, param })

/** All texts of a, b and c up to a length. */
const textsUpTo = (length: number): string[] =>
  length === 0
    ? ['']
    : ['', ...textsUpTo(length - 1).flatMap((t) => ['a', 'b', 'c'].map((c) => c + t))]

interface Spelling {
  readonly ebnf: string
  readonly regex: string
}
const literal = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
  .map((letters): Spelling => ({ ebnf: `"${letters.join('')}"`, regex: letters.join('') }))
const brackets = fc
  .tuple(fc.constantFrom('[ab]', '[bc]', '[^a]'), fc.constantFrom('', '*', '+', '?'))
  .map(([set, times]): Spelling => ({ ebnf: set + times, regex: set + times }))
const oneOf = (items: readonly Spelling[]): Spelling => ({
  ebnf: items.map(({ ebnf }) => ebnf).join(' | '),
  regex: `(?:${items.map(({ regex }) => regex).join('|')})`,
})
const sequence = (item: fc.Arbitrary<Spelling>): fc.Arbitrary<Spelling> =>
  fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => ({
    ebnf: items.map(({ ebnf }) => ebnf).join(' '),
    regex: items.map(({ regex }) => regex).join(''),
  }))
const alternatives = (item: fc.Arbitrary<Spelling>): fc.Arbitrary<Spelling> =>
  fc.array(sequence(item), { minLength: 1, maxLength: 3 }).map(oneOf)
const group = fc
  .tuple(alternatives(fc.oneof(literal, brackets)), fc.constantFrom('', '*', '+', '?'))
  .map(
    ([{ ebnf, regex }, times]): Spelling => ({ ebnf: `(${ebnf})${times}`, regex: regex + times }),
  )

/** A grammar whose root names two other rules, and the regular expression of the same texts. */
const grammars = fc
  .tuple(alternatives(fc.oneof(literal, brackets)), alternatives(fc.oneof(literal, group)))
  .chain(([one, two]) => {
    const names = fc.constantFrom({ ...one, ebnf: 'one' }, { ...two, ebnf: 'two' })
    return alternatives(fc.oneof(literal, names)).map(({ ebnf, regex }) => ({
      source: `root ::= ${ebnf}\none ::= ${one.ebnf}\ntwo ::= ${two.ebnf}`,
      pattern: new RegExp(`^${regex}$`),
    }))
  })

describe('a grammar', () => {
  it.each([
    ['root ::= "c" q\nq ::= "ac" | "bac" | "baa"', 'caa', 'cbaa'],
    ['root ::= r | s\nr ::= "bbc"\ns ::= "cbc" | "cbb" | "b"', 'bbb', 'bbc'],
    ['root ::= ("bb" | "abc")+ | ("ac" | "cbc" | "cb")+', 'acc', 'acac'],
    ['root ::= ("c" | "abb" | "ab") ("ab" | "bba")', 'cbab', 'cbba'],
  ])('of alternatives that end alike lets nothing else through: %j', async (source, no, yes) => {
    const grammar = await compile(source)
    expect(await accepts(engine, grammar, no)).toBe(false)
    expect(await accepts(engine, grammar, yes)).toBe(true)
    grammar.end()
  })

  it('accepts the texts that it has and no others', async () => {
    await fc.assert(
      fc.asyncProperty(grammars, async ({ source, pattern }) => {
        const grammar = await compile(source)
        for (const text of textsUpTo(3)) {
          expect({ source, text, is: await accepts(engine, grammar, text) }).toEqual({
            source,
            text,
            is: pattern.test(text),
          })
        }
        grammar.end()
      }),
      { numRuns: 40 },
    )
  })

  it('may have any characters in texts, but only those of ASCII in brackets', async () => {
    const grammar = await compile('root ::= "é🙂\\n\\"\\\\" | "éx" | [^b-z\\]]+ "."')
    for (const text of ['é🙂\n"\\', 'éx', 'aA1.'])
      expect(await accepts(engine, grammar, text)).toBe(true)
    for (const text of ['é', 'x', 'ab.', ']', '.'])
      expect(await accepts(engine, grammar, text)).toBe(false)
    grammar.end()
    await expect(compile('root ::= [a-zé]')).rejects.toMatchObject({ code: 'invalid_value', param })
    expect(hasWideBrackets('root ::= (("\\xe9" [a\\x41]))')).toBe(false)
  })
})

it('reports no new rule as an existing one, and ignores what it cannot parse', () => {
  const printed = 'root ::= (("ab" part_0) | ("a"))\npart_0 ::= (("b") (=([a-z])))\n'
  expect(separateAlternatives(printed).split('\n')).toEqual([
    'part_2 ::= "b" part_0',
    'part_1 ::= "a" part_2',
    'root ::= part_1 | "a"',
    'part_0 ::= (("b") (=([a-z])))',
    '',
  ])
})
