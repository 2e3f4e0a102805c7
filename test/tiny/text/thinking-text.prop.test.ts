/** A thought is told from its answer, however the text is cut. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createThinkingText } from '../../../src/inference/tiny/text/thinking-text.ts'

/** What the pieces make together, the last one being the end. */
function splitThinking(pieces: readonly string[]) {
  const thinking = createThinkingText()
  const parts = pieces.map((piece, place) => thinking.push(piece, place === pieces.length - 1))
  return {
    reasoning: parts.map(({ reasoning }) => reasoning).join(''),
    content: parts.map(({ content }) => content).join(''),
  }
}

describe('a thought', () => {
  it.each([
    ['<think>\n3 + 4 = 7.\n</think>\n3 plus 4 is 7.', '3 + 4 = 7.', '3 plus 4 is 7.'],
    [' \n<think>a</think>b', 'a', 'b'],
    ['<think></think>b ', '', 'b '],
    ['<think>a  b </thi', 'a  b </thi', ''],
    ['<think> a \n ', 'a', ''],
    ['<think>a</think>\n<think>b</think>', 'a', '<think>b</think>'],
    ['a <think>b</think>', '', 'a <think>b</think>'],
    ['\n a', '', '\n a'],
    ['<thin', '', '<thin'],
    ['', '', ''],
  ])('of %j is %j, its answer %j', (text, reasoning, content) => {
    expect(splitThinking([text])).toEqual({ reasoning, content })
  })

  it('is the same in pieces and in one', () => {
    const part = fc.constantFrom(
      '<think>',
      '</think>',
      '<',
      '</',
      'think',
      '>',
      ' ',
      '\n',
      'a',
      '🙂',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, opens) => {
        const pieces = opens ? ['<thi', 'nk>', ...parts] : ['', ...parts]
        const whole = pieces.join('')
        expect(splitThinking(pieces)).toEqual(splitThinking([whole]))
        expect(splitThinking([...whole, ''])).toEqual(splitThinking([whole]))
      }),
      { numRuns: 500 },
    )
  })

  it('says at every piece whether it ends inside of the thought', () => {
    const thinking = createThinkingText()
    const pieces = ['<', 'think>', '\n', 'a', '</think', '>', '\n', 'b', '</think>']
    expect(pieces.map((piece) => thinking.push(piece, false).isThought)).toEqual([
      false,
      ...Array.from({ length: 6 }, () => true),
      false,
      false,
    ])
  })
})
