import { describe, expect, it } from 'vitest'
import { readPastedRows } from '../../../src/page/datasets/pasted-rows.ts'

describe('pasted rows', () => {
  it.each([
    ['', []],
    ['{"a": 1}', [{ a: 1 }]],
    ['{\n  "a": {"b": [1]}\n}', [{ a: { b: [1] } }]],
    ['[{"a": 1}, {"b": 2}]', [{ a: 1 }, { b: 2 }]],
    ['{"a": 1}\r\n\n{"b": 2}\n', [{ a: 1 }, { b: 2 }]],
    ['a,b\n1,2\n', [{ a: '1', b: '2' }]],
    ['\ufeffq\n"say ""hi"", please"\n', [{ q: 'say "hi", please' }]],
    ['q\texpected\none\t"two\nlines"\n', [{ q: 'one', expected: 'two\nlines' }]],
    [
      'a;b\n1,5;\n\n2;3',
      [
        { a: '1,5', b: '' },
        { a: '2', b: '3' },
      ],
    ],
    ['"a, b";c\n1;2', [{ 'a, b': '1', c: '2' }]],
    ['a, b\tc\n1\t2', [{ 'a, b': '1', c: '2' }]],
    ['a,b\r\n1\r\n', [{ a: '1', b: '' }]],
    ['a,b\n,\n', []],
  ])('are read of %j', (text, rows) => {
    expect(readPastedRows(text)).toEqual(rows)
  })

  it.each([
    ['[1]', 'Row 1 is not a JSON object.'],
    ['[{]', 'The text is not valid JSON.'],
    ['{"a": 1}\n{b}', 'Line 2 is not valid JSON.'],
    ['{"a": 1}\n[2]', 'Line 2 is not a JSON object.'],
    ['a,,b\n1,2,3', 'The first line must be a header in which each column has a name.'],
    ['a,a\n1,2', 'Two columns of the header have the same name.'],
    ['a\n1,2', 'Row 1 has 2 cells, the header 1.'],
    ['a\n"open', 'A quotation mark of line 2 is not closed.'],
    ['a\n"shut"x', 'A quotation mark of line 2 is not closed.'],
    [`a\n${'x'.repeat(10_000_000)}`, 'The text is longer than 10 million characters.'],
  ])('are refused with the place of the fault', (text, message) => {
    expect(() => readPastedRows(text)).toThrow(message)
  })

  it('may have a cell of millions of characters', () => {
    const cell = 'x"'.repeat(2_000_000)
    expect(readPastedRows(`a\n"${cell.replaceAll('"', '""')}"`)).toEqual([{ a: cell }])
  })

  it('have numbers with all their digits', () => {
    const [row] = readPastedRows('{"n": 12345678901234567891}')
    expect(JSON.stringify(row)).toBe('{"n":12345678901234567891}')
  })
})
