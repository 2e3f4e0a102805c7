import { describe, expect, it } from 'vitest'
import { renderContentRange, resolveByteRange } from '../../src/domain/objects/byte-range.ts'

const ETAG = '"abc"'
const SIZE = 10

const rangeOf = (range: string | undefined, size_bytes = SIZE, condition?: string) =>
  resolveByteRange({ range, 'if-range': condition }, { etag: ETAG, size_bytes })

describe('the range of a GET', () => {
  it.each([
    ['bytes=0-3', '0-3'],
    ['bytes=4-4', '4-4'],
    ['bytes=4-', '4-9'],
    ['bytes=4-99', '4-9'],
    [`bytes=9-${'9'.repeat(400)}`, '9-9'],
    ['bytes=-3', '7-9'],
    ['bytes=-99', '0-9'],
    ['BYTES= 1-2 ', '1-2'],
    ['bytes=007-8', '7-8'],
  ])('%s is %s', (range, expected) => {
    const found = rangeOf(range)
    expect(found && renderContentRange(found, SIZE)).toBe(`bytes ${expected}/10`)
  })

  it.each([
    [undefined],
    [''],
    ['bytes=3-2'],
    ['bytes=-'],
    ['bytes=a-3'],
    ['bytes=1'],
    ['bytes 1-3'],
    ['bytes=0-1,4-5'],
    ['lines=0-3'],
  ])('%s is ignored', (range) => {
    expect(rangeOf(range)).toBeNull()
  })

  it.each([
    ['bytes=10-', SIZE],
    ['bytes=10-12', SIZE],
    ['bytes=-0', SIZE],
    ['bytes=0-', 0],
  ])('%s of %i bytes cannot be satisfied, and the error has the size', (range, size) => {
    const headers = { 'content-range': `bytes */${size}` }
    const error = expect.objectContaining({ code: 'range_not_satisfiable', headers })
    expect(() => rangeOf(range, size)).toThrow(error)
  })

  it('of the last bytes of an empty file is ignored', () => {
    expect(rangeOf('bytes=-5', 0)).toBeNull()
  })

  it.each([
    [ETAG, true],
    ['"other"', false],
    [`W/${ETAG}`, false],
    ['Sat, 31 Jan 2026 09:00:00 GMT', false],
  ])('counts beside If-Range: %s only where that is its strong ETag', (condition, counts) => {
    expect(rangeOf('bytes=0-3', SIZE, condition) !== null).toBe(counts)
    expect(rangeOf('bytes=99-', SIZE, '"other"')).toBeNull()
  })
})
