import { describe, expect, it } from 'vitest'
import { createLeafPaths } from '../../src/domain/json/json-paths.ts'
import { parseLossless } from '../../src/domain/json/json-text.ts'

/** `path: type` of each leaf of the values. */
function pathsOf(...values: unknown[]): Record<string, string> {
  const leaves = createLeafPaths()
  for (const value of values) leaves.add(value)
  expect(leaves.isComplete()).toBe(true)
  return Object.fromEntries(
    leaves.list().map(({ json_path, value_type }) => [json_path, value_type]),
  )
}

describe('§2.4 json_path', () => {
  it.each([
    ['dots between keys', { output: { score: 0.9 } }, 'output.score'],
    ['digits and underscores plain', { a_1: { 0: 1 } }, 'a_1.0'],
    ['other keys quoted', { scores: { 'f-1': 1 } }, 'scores["f-1"]'],
    ['other keys quoted at the top', { 'f-1': { x: 1 } }, '["f-1"].x'],
    ['a key with a dot quoted', { 'a.b': 1 }, '["a.b"]'],
    ['an empty key quoted', { a: { '': 1 } }, 'a[""]'],
    ['quotes in a key escaped', { 'a"]': 1 }, '["a\\"]"]'],
    ['a key with letters of other scripts quoted', { größe: 1 }, '["größe"]'],
    ['a key that looks like an element quoted', { 'a[*]': 1 }, '["a[*]"]'],
    ['elements of arrays as [*]', { tags: ['a', 'b'] }, 'tags[*]'],
    ['fields of elements behind [*]', { items: [{ score: 1 }, { score: 2 }] }, 'items[*].score'],
    ['arrays in arrays', { m: [[1], [2, 3]] }, 'm[*][*]'],
    ['an element with a quoted key', { m: [{ 'a b': 1 }] }, 'm[*]["a b"]'],
    [
      'keys of the prototype',
      JSON.parse('{"__proto__":{"constructor":1}}'),
      '__proto__.constructor',
    ],
  ])('writes %s', (_what, value, path) => {
    expect(Object.keys(pathsOf(value))).toEqual([path])
  })

  it('has nothing for empty objects and arrays', () => {
    expect(pathsOf({ a: {}, b: [], c: [[], {}], d: { e: {} } }, {})).toEqual({})
  })

  it('is distinct and in code-unit order', () => {
    const leaves = createLeafPaths()
    for (const value of [
      { b: 1, a: 1 },
      { a: 2, B: 1, ä: 1 },
      { a_: 1, a: { b: 1 } },
    ])
      leaves.add(value)
    const paths = leaves.list().map(({ json_path }) => json_path)
    expect(paths).toEqual(['B', '["ä"]', 'a', 'a.b', 'a_', 'b'])
  })
})

describe('§2.4 value_type', () => {
  it.each([
    ['numeric', [1, 0.5, -1e9]],
    ['numeric', [1, null]],
    ['numeric', [parseLossless('12345678901234567890')]],
    ['numeric', [parseLossless('1e400'), 1]],
    ['boolean', [true, false]],
    ['boolean', [null, true]],
    ['categorical', ['a', '1']],
    ['categorical', ['a', null]],
    ['categorical', [1, true]],
    ['categorical', [1, 'a']],
    ['categorical', [true, 'a', 1, null]],
    ['categorical', [null]],
    ['categorical', [null, null]],
  ])('is %s for %j, over samples and inside arrays', (type, values) => {
    expect(pathsOf(...values.map((x) => ({ x })))).toEqual({ x: type })
    expect(pathsOf({ x: values })).toEqual({ 'x[*]': type })
  })

  it('tells a leaf from the object of the same path in another sample', () => {
    expect(pathsOf({ a: 1 }, { a: { b: true } }, { a: ['x'] })).toEqual({
      a: 'numeric',
      'a.b': 'boolean',
      'a[*]': 'categorical',
    })
  })
})

describe('limits of createLeafPaths', () => {
  it('add no new path beyond pathsMax but keep the known types exact', () => {
    const leaves = createLeafPaths({ pathsMax: 2, pathLengthMax: 100 })
    leaves.add({ a: 1, b: 1 })
    expect(leaves.isComplete()).toBe(true)
    leaves.add({ c: 1, a: 'x' })
    expect(leaves.isComplete()).toBe(false)
    expect(leaves.list()).toEqual([
      { json_path: 'a', value_type: 'categorical' },
      { json_path: 'b', value_type: 'numeric' },
    ])
  })

  it('leave out paths over pathLengthMax', () => {
    const leaves = createLeafPaths({ pathsMax: 10, pathLengthMax: 5 })
    leaves.add({ abcde: 1, abcdef: 1, abc: { d: 1, de: 1 } })
    expect(leaves.isComplete()).toBe(false)
    expect(leaves.list().map(({ json_path }) => json_path)).toEqual(['abc.d', 'abcde'])
  })

  it('are kept for a value as deep and as wide as a body may be', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(511)}[1]${'}'.repeat(511)}`)
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]))
    const leaves = createLeafPaths()
    leaves.add(deep)
    leaves.add(wide)
    expect(leaves.list()).toHaveLength(10_000)
    expect(leaves.isComplete()).toBe(false)
  })
})
