import { describe, expect, it } from 'vitest'
import { parseSearch, printSearch } from '../../../src/page/calls/search/search-text.ts'

const canonical = (text: string) => {
  const { conditions, problems } = parseSearch(text)
  expect(problems).toEqual([])
  return printSearch(conditions)
}

describe('the search of calls', () => {
  it('reads keys with values, negations, lists, quoted texts and bare words', () => {
    const text = 'status:error,running -model:gpt* latency>2s "any words" refund user:"hana b"'
    expect(parseSearch(text).conditions).toEqual([
      { key: 'status', operator: ':', values: ['error', 'running'], isNot: false },
      { key: 'model', operator: ':', values: ['gpt*'], isNot: true },
      { key: 'latency', operator: '>', values: ['2s'], isNot: false },
      { key: 'text', operator: ':', values: ['any words'], isNot: false },
      { key: 'text', operator: ':', values: ['refund'], isNot: false },
      { key: 'user', operator: ':', values: ['hana b'], isNot: false },
    ])
  })

  it.each([
    ['latency>2000', 'latency>2s'],
    ['latency>=1.5S', 'latency>=1.5s'],
    ['latency<250', 'latency<250ms'],
    ['latency<2min', 'latency<120s'],
    ['latency>1010ms', 'latency>1.01s'],
    ['cost>$0.010', 'cost>0.01'],
    ['STATUS:Error', 'status:error'],
    ['text:why', 'why'],
    ['"why"', 'why'],
    ['-"-5"', '-"-5"'],
    ['inputs.Deep.n>=3', 'inputs.Deep.n>=3'],
    ['op=answer', 'op=answer'],
    ['"say \\"so\\""', '"say \\"so\\""'],
    ['user:a,"b,c",a', 'user:a,"b,c"'],
    ['', ''],
    ['   ', ''],
  ])('writes %s in one way', (text, printed) => {
    expect(canonical(text)).toBe(printed)
    expect(canonical(printed)).toBe(printed)
  })

  it.each([
    ['state:error', /no key “state”.*status, op, model.*inputs\.question/],
    ['https://example.org', /no key “https”.*quotation marks/],
    ['tree-tokens>many', /a number such as 0.5/],
    ['status:broken', /one of success, error, running, descendant_error, not “broken”/],
    ['latency>soon', /a time such as 250ms, 1\.5s, 2min or 1h, not “soon”/],
    ['latency:2s', /latency takes > >= < <=, as in latency>2s/],
    ['cost>cheap', /US dollars such as 0\.01, not “cheap”/],
    ['cost>1e999', /not “1e999”/],
    ['user:', /user: needs a text/],
    ['status>error', /status takes :, as in status:error/],
    ['latency>1s,2s', /takes one value/],
    ['inputs.n>many', /a number such as 0\.5, not “many”/],
    ['"open', /not closed/],
    ['""', /no text between/],
    ['ref:a ref:b', /only once/],
    ['-ref:a', /cannot be excluded/],
    ['inputs.:x', /no key “inputs\.”/],
  ])('says of %s what is accepted, and leaves it out', (text, words) => {
    const { conditions, problems } = parseSearch(`op:kept ${text}`)
    expect(problems).toEqual([expect.stringMatching(words)])
    expect(conditions.some(({ key }) => key === 'op')).toBe(true)
  })

  it('has at most 30 conditions', () => {
    const { conditions, problems } = parseSearch('a '.repeat(31))
    expect(conditions).toHaveLength(30)
    expect(problems).toHaveLength(1)
  })
})
