import { describe, expect, it } from 'vitest'
import { eachItem } from '../../src/domain/json/json-members.ts'
import { parseExact } from '../../src/domain/json/json-text.ts'
import { toPythonJson } from '../../src/domain/json/python-json.ts'
import {
  createBytesDigest,
  digestOfJson,
  digestOfRows,
  requireDigest,
} from '../../src/domain/objects/digests.ts'
import vectors from './python-digests.json' with { type: 'json' }

describe('toPythonJson', () => {
  it('writes every vector as Python does', () => {
    expect(vectors.values.length).toBeGreaterThan(300)
    expect(vectors.values.map(({ text }) => toPythonJson(text))).toEqual(
      vectors.values.map(({ python }) => python),
    )
  })

  it('tells 1 from 1.0, as Python clients do', () => {
    expect(digestOfJson('{"n":1}')).not.toBe(digestOfJson('{"n":1.0}'))
  })
})

describe('digests', () => {
  it('equal those of Python for every vector', () => {
    expect(vectors.values.map(({ text }) => digestOfJson(text))).toEqual(
      vectors.values.map(({ digest }) => digest),
    )
  })

  it('equal those of Python for tables', () => {
    const { rows_text, row_digests, digest } = vectors.table
    expect(rows_text.map(digestOfJson)).toEqual(row_digests)
    expect(digestOfRows(row_digests)).toBe(digest)
    expect(digestOfRows([])).toBe(vectors.empty_table)
  })

  it.each(vectors.files)('equal those of Python for the file %j', ({ base64, digest }) => {
    const bytes = Buffer.from(base64, 'base64')
    const hash = createBytesDigest()
    hash.update(bytes.subarray(0, 3))
    hash.update(bytes.subarray(3))
    expect(hash.digest()).toBe(digest)
  })

  it('refuse only another expected digest', () => {
    expect(() => requireDigest(null, 'a', 'p')).not.toThrow()
    expect(() => requireDigest(undefined, 'a', 'p')).not.toThrow()
    expect(() => requireDigest('a', 'a', 'p')).not.toThrow()
    expect(() => requireDigest('b', 'a', 'p')).toThrow(
      expect.objectContaining({ code: 'digest_mismatch', param: 'p' }),
    )
  })
})

describe('eachItem', () => {
  it('yields each item as it was sent, which Python writes in its own way', () => {
    const items = [...eachItem(' [ {"b":1, "a":2} ,[1 ,[2]], "x,]" ,1.0]')]
    expect(items).toEqual(['{"b":1, "a":2}', '[1 ,[2]]', '"x,]"', '1.0'])
    const python = ['{"a": 2, "b": 1}', '[1, [2]]', '"x,]"', '1.0']
    expect(items.map(toPythonJson)).toEqual(python)
    expect([...eachItem('[]')]).toEqual([])
  })
})

describe('parseExact', () => {
  it('changes no content of a vector', () => {
    for (const { text, digest } of vectors.values) {
      expect(digestOfJson(JSON.stringify(parseExact(text)))).toBe(digest)
    }
  })

  it.each(['1.0', '[0.10]', '{"a":1e5}', '12345678901234567890', '-0.0'])('keeps %s', (text) => {
    expect(JSON.stringify(parseExact(text))).toBe(text)
  })
})
