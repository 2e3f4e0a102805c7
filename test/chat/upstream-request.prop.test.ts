import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderUpstreamBody, replaceMember } from '../../src/inference/openai/request.ts'

describe('renderUpstreamBody', () => {
  it('leaves the text alone when the upstream knows the model by the name asked for', () => {
    const body = '{ "seed":9223372036854775807, "model" :"m","x":1.0, "messages":[] }'
    expect(renderUpstreamBody(body, 'm', 'm')).toBe(body)
  })

  it('changes nothing but the model', () => {
    const body = '{ "seed":9223372036854775807,\n "model" : "m" ,"x":1.0}'
    expect(renderUpstreamBody(body, 'm', 'up/m')).toBe(
      '{ "seed":9223372036854775807,\n "model" : "up/m" ,"x":1.0}',
    )
  })

  it.each([undefined, null])('names the model when the request has %s', (asked) => {
    const body = asked === null ? '{"model":null,"messages":[]}' : '{"messages":[]}'
    expect(JSON.parse(renderUpstreamBody(body, asked, 'up'))).toEqual({ model: 'up', messages: [] })
  })

  it('drops a byte order mark', () => {
    expect(renderUpstreamBody('\uFEFF{"model":"m"}', 'm', 'm')).toBe('{"model":"m"}')
  })
})

describe('replaceMember', () => {
  it.each([
    ['a nested key of that name', '{"a":{"model":"x"},"b":[{"model":"y"}],"model":"m"}'],
    ['text that looks like the key', '{"a":"\\"model\\":\\"x\\"","model":"m"}'],
    ['a value equal to the key', '{"a":"model","b":["model"],"model":"m"}'],
    ['an escaped key', '{"mod\\u0065l":"m"}'],
    ['a value with escapes', '{"model":"a\\"b\\\\","z":1}'],
    ['a key that comes twice, last one counts', '{"model":{"x":1},"model":"m"}'],
    ['null as the last member', '{"a":1,"model":null}'],
    ['no such member', '{"a":1}'],
    ['an empty object', '{ }'],
  ])('handles %s', (_name, text) => {
    expect(JSON.parse(replaceMember(text, 'model', '"new"'))).toEqual({
      ...JSON.parse(text),
      model: 'new',
    })
  })

  it('sets the member and keeps all others in any object', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null))
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        value,
        fc.nat(2),
        (rest, model, indent) => {
          const text = JSON.stringify({ ...rest, model }, null, indent)
          const edited = replaceMember(text, 'model', '"new"')
          expect(edited).toBe(JSON.stringify({ ...rest, model: 'new' }, null, indent))
        },
      ),
      { numRuns: 40 },
    )
  })
})
