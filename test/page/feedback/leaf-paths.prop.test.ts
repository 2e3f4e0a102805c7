import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLeafPaths } from '../../../src/domain/json/json-paths.ts'
import { leafPathsOf } from '../../../src/page/feedback/leaf-paths.ts'

it('takes a number with all its digits for a number', () => {
  const payload = { n: JSON.rawJSON('12345678901234567891') }
  expect(leafPathsOf([payload])).toEqual([{ json_path: 'n', value_type: 'numeric' }])
})

it('finds the paths and types that payload schemas tell of the same payloads', () => {
  const key = fc.constantFrom('value', 'a b', 'x.y', '', '_1')
  const { payload } = fc.letrec((tie) => ({
    payload: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, 4, 'text'),
      fc.array(tie('payload'), { maxLength: 3 }),
      fc.dictionary(key, tie('payload'), { maxKeys: 3 }),
    ),
  }))
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 4 }), (payloads) => {
      const leaves = createLeafPaths()
      for (const each of payloads) leaves.add(each)
      const found = [...leafPathsOf(payloads)]
      found.sort((left, right) => (left.json_path < right.json_path ? -1 : 1))
      expect(found).toEqual(leaves.list())
    }),
  )
})
