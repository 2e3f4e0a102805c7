import { describe, expect, it } from 'vitest'
import { resolveRecordedCall, toOneLine } from '../../../src/domain/calls/recorded-call.ts'
import { JSON_DEPTH_MAX } from '../../../src/domain/json/json-limits.ts'

const REF = 'weave:///acme/demo/object/prompt:abcdef'

function resolve(texts: { inputs_json?: string; output_json?: string }) {
  const ids = { project_id: 'acme/demo', id: 'c', trace_id: 't', svc_user_id: 'u' }
  const times = { started_at_us: 1, ended_at_us: 2 }
  const names = { op_name: 'o', svc_username: 'U', ref_scheme: 'weave' }
  const facts = { ...ids, ...times, ...names, attributes: {}, summary: {}, exception: null }
  return resolveRecordedCall({ facts, inputs_json: '{}', output_json: 'null', ...texts })
}

describe('resolveRecordedCall', () => {
  it('keeps the texts as they are and counts their bytes', () => {
    const inputs_json = '{"a": 1.0, "b":"é", "c":9223372036854775807}'
    const { start } = resolve({ inputs_json })
    expect(start?.inputs_json).toBe(inputs_json)
    expect(start?.start_size_bytes).toBe(2 + Buffer.byteLength(inputs_json))
  })

  it.each([
    ['plain', REF],
    ['with escaped slashes', REF.replaceAll('/', '\\/')],
    ['with an escaped letter', REF.replace('w', '\\u0077')],
  ])('finds a ref that is written %s', (_name, text) => {
    const parts = resolve({ inputs_json: `{"a":["${text}"]}`, output_json: `"${text}"` })
    expect(parts.start?.input_refs).toEqual([{ ref: REF, path: null }])
    expect(parts.end?.output_refs).toEqual([{ ref: REF, path: '[]' }])
  })
})

describe('an output that nests too deep', () => {
  const nested = (depth: number) => `["[",${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}]`

  it.each([
    [JSON_DEPTH_MAX, false],
    [JSON_DEPTH_MAX + 1, true],
  ])('%i levels: left out is %s', (depth, isLeftOut) => {
    const output_json = nested(depth)
    const { start, end } = resolve({ output_json })
    expect(end?.output_json).toBe(isLeftOut ? 'null' : output_json)
    expect(start?.attributes_json).toBe(isLeftOut ? '{"output_cut":true}' : '{}')
  })
})

describe('toOneLine', () => {
  it.each([
    ['leaves a text on one line alone', '{"a" : 1.0}', '{"a" : 1.0}'],
    ['drops what stands around it', '\uFEFF {"a":1}\r\n', '{"a":1}'],
    [
      'prints others anew, with every digit',
      '{\n "a": 12345678901234567890\r}',
      '{"a":12345678901234567890}',
    ],
    ['leaves escaped line breaks alone', '["a\\nb"]', '["a\\nb"]'],
  ])('%s', (_name, json, line) => {
    expect(toOneLine(json)).toBe(line)
  })
})
