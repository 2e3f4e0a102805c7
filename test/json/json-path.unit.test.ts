import { describe, expect, it } from 'vitest'
import { parseJsonPath, valueAtJsonPath } from '../../src/domain/json/json-path.ts'

const VALUE = { inputs: { 'a b': [{ c: 1 }, { c: 2 }], 'd"e': true, list: [1, 2, 3] } }

describe('paths of JSON values', () => {
  it.each([
    ['$', VALUE],
    ['$.inputs.list[0]', 1],
    ['$.inputs.list[-1]', 3],
    ['$.inputs.list[3]', undefined],
    ['$.inputs["a b"][*].c', [1, 2]],
    ["$.inputs['a b'][1]['c']", 2],
    ["$.inputs['d\"e']", true],
    ['$.inputs.list.*', [1, 2, 3]],
    ['$.inputs.none.deeper', undefined],
    ['$.inputs.toString', undefined],
  ])('%s selects %j', (text, expected) => {
    const path = parseJsonPath(text)
    expect(path).not.toBeNull()
    expect(valueAtJsonPath(VALUE, path ?? [])).toEqual(expected)
  })

  it.each(['', 'inputs', '$inputs', '$..a', '$.a[?(@.b)]', '$.a[0:2]', '$.a[01]', '$.a['])(
    '%j is none',
    (text) => expect(parseJsonPath(text)).toBeNull(),
  )
})
