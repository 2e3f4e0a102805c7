/** Stop strings against a search over the whole text, for any split into pieces. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStopText } from '../../../src/inference/tiny/text/stop-text.ts'

/** Few letters, so that stop strings really occur and overlap. */
const letters = (max: number, min = 0) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '🙂'), minLength: min, maxLength: max })
const pieces = fc.array(letters(4), { maxLength: 12 })
const stopList = fc.array(letters(4, 1), { maxLength: 3 })

function run(parts: readonly string[], stops: readonly string[], isIncluded: boolean) {
  const search = createStopText(stops, isIncluded)
  const out: string[] = []
  for (const part of parts) {
    const { text, stop } = search.push(part, true)
    out.push(text)
    if (stop !== null) return { text: out.join(''), stop, out }
  }
  out.push(search.rest())
  return { text: out.join(''), stop: null, out }
}

/** The answer of a search over the whole text at once. */
function oracle(text: string, stops: readonly string[], isIncluded: boolean) {
  const found = stops
    .map((stop, order) => ({ stop, at: text.indexOf(stop), order }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || a.order - b.order)[0]
  if (found === undefined) return { text, stop: null }
  const end = found.at + (isIncluded ? found.stop.length : 0)
  return { text: text.slice(0, end), stop: found.stop }
}

describe('createStopText', () => {
  it('without a stop string in the text gives all of it, whatever the pieces', () => {
    fc.assert(
      fc.property(pieces, stopList, (parts, stops) => {
        const whole = parts.join('')
        fc.pre(stops.every((stop) => !whole.includes(stop)))
        expect(run(parts, stops, false)).toMatchObject({ text: whole, stop: null })
      }),
    )
  })

  it('cuts at a stop string wherever the borders of the pieces are', () => {
    fc.assert(
      fc.property(pieces, letters(4, 1), fc.boolean(), (parts, stop, isIncluded) => {
        const { text, stop: found } = run(parts, [stop], isIncluded)
        expect({ text, stop: found }).toEqual(oracle(parts.join(''), [stop], isIncluded))
      }),
    )
  })

  it('never sends any part of a matched stop string', () => {
    fc.assert(
      fc.property(pieces, stopList, (parts, stops) => {
        const { text, stop } = run(parts, stops, false)
        const whole = parts.join('')
        expect(whole.startsWith(text)).toBe(true)
        if (stop !== null) expect(whole.startsWith(text + stop)).toBe(true)
        expect(stops.some((one) => text.includes(one))).toBe(false)
      }),
    )
  })

  it('gives whole characters only', () => {
    fc.assert(
      fc.property(pieces, stopList, (parts, stops) => {
        expect(run(parts, stops, false).out.every((text) => text.isWellFormed())).toBe(true)
      }),
    )
  })

  it('holds back no more than could still become a stop string', () => {
    const search = createStopText(['END', 'STOP!'], false)
    expect(search.push('one S', true).text).toBe('one ')
    expect(search.push('TO', true).text).toBe('')
    expect(search.push('NE', true).text).toBe('STON')
    expect(search.push('N', true).text).toBe('')
    expect(search.push('D', true)).toEqual({ text: '', stop: 'END' })
  })

  it('takes the stop string that begins first, of those the first of the list', () => {
    const find = (stops: string[]) => createStopText(stops, false).push('xabc', true).stop
    expect(find(['c', 'b', 'a'])).toBe('a')
    expect(find(['ab', 'abc'])).toBe('ab')
    expect(find(['abc', 'ab'])).toBe('abc')
  })

  it('does not search text before it is armed', () => {
    const search = createStopText(['END'], false)
    expect(search.push('END E', false)).toEqual({ text: 'END E', stop: null })
    expect(search.push('ND', true)).toEqual({ text: 'ND', stop: null })
    expect(search.push(' END', true)).toEqual({ text: ' ', stop: 'END' })
  })

  it('does not cut a character in two', () => {
    const search = createStopText(['\ude42'], false)
    expect(search.push('🙂', true)).toEqual({ text: '🙂', stop: null })
  })
})
