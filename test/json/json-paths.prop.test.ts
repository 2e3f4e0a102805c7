import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLeafPaths } from '../../src/domain/json/json-paths.ts'
import { codePoint } from '../support/code-point.ts'

const key = fc.oneof(
  fc.string({ maxLength: 4, unit: codePoint }),
  fc.constantFrom('a', 'b', 'a.b', '', '[*]', '["a"]', '__proto__', 'a"b', '0'),
)

/** JSON values with all kinds of keys, __proto__ as an own key included. */
const { json } = fc.letrec<{ json: unknown; object: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 1, -0.5, 'text', ''),
    fc.array(tie('json'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(key, tie('json')), { maxLength: 4 })
    .map((entries) =>
      JSON.parse(
        `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)}}`,
      ),
    ),
}))

function pathsOf(values: readonly unknown[]) {
  const leaves = createLeafPaths()
  for (const value of values) leaves.add(value)
  return leaves.list()
}

type Step = string | typeof ELEMENT
const ELEMENT = Symbol('element')

/** The steps to each leaf, found without any text. */
function leavesOf(value: unknown, steps: Step[] = []): Step[][] {
  if (typeof value !== 'object' || value === null) return [steps]
  if (Array.isArray(value)) return value.flatMap((item) => leavesOf(item, [...steps, ELEMENT]))
  return Object.entries(value).flatMap(([name, item]) => leavesOf(item, [...steps, name]))
}

/** Reads a path back: the inverse of what is tested. */
function parsePath(path: string): Step[] {
  const steps: Step[] = []
  const token = /\.?([A-Za-z0-9_]+)|\[\*\]|\[("(?:[^"\\]|\\.)*")\]/suy
  while (token.lastIndex < path.length) {
    const match = token.exec(path)
    if (!match) throw new Error(`no path: ${path}`)
    const [, plain, quoted] = match
    if (plain !== undefined) steps.push(plain)
    else steps.push(quoted === undefined ? ELEMENT : JSON.parse(quoted))
  }
  return steps
}

const rendered = (steps: readonly Step[]) =>
  JSON.stringify(steps.map((step) => (step === ELEMENT ? [1] : step)))

function reversedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(reversedKeys)
  const entries = Object.entries(value).reverse()
  return JSON.parse(
    `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${JSON.stringify(reversedKeys(item))}`)}}`,
  )
}

describe('leaf paths of any JSON value', () => {
  it('are one for each leaf and none beside', () => {
    fc.assert(
      fc.property(json, (value) => {
        const read = pathsOf([value]).map(({ json_path }) => rendered(parsePath(json_path)))
        const expected = [...new Set(leavesOf(value).map(rendered))]
        expect(read.sort()).toEqual(expected.sort())
      }),
    )
  })

  it('do not depend on the order of keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(pathsOf([reversedKeys(value)])).toEqual(pathsOf([value]))
      }),
    )
  })

  it('do not depend on the order or repetition of samples', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 6 }), (values) => {
        const once = pathsOf(values)
        expect(pathsOf(values.toReversed())).toEqual(once)
        expect(pathsOf([...values, ...values])).toEqual(once)
      }),
    )
  })

  it('are sorted and distinct', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 6 }), (values) => {
        const paths = pathsOf(values).map(({ json_path }) => json_path)
        expect(paths).toEqual([...new Set(paths)].sort())
      }),
    )
  })
})
