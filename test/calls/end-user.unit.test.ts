import { describe, expect, it } from 'vitest'
import { readEndUser } from '../../src/domain/calls/end-user.ts'
import { resolveTimedStart } from '../../src/domain/calls/new-call.ts'
import { resolveRecordedCall } from '../../src/domain/calls/recorded-call.ts'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from '../otel/otel-fixtures.ts'

const DEFAULTS = { id: 'c', trace_id: 't', svc_user_id: 'key', svc_username: 'Key' }
const ofSpan = (attributes: object) => {
  const { start } = toSpanCall(buildSpan({ attributes: { ...attributes } }), 'acme/demo')
  return resolveTimedStart(start, DEFAULTS, 'weave').end_user_id
}
const CHAT = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const ofRequest = (inputs: object) =>
  resolveRecordedCall({
    facts: {
      project_id: 'acme/demo',
      id: 'c',
      trace_id: 't',
      op_name: 'chat.completions',
      started_at_us: 1,
      ended_at_us: 2,
      svc_user_id: 'key',
      svc_username: 'Key',
      attributes: {},
      exception: null,
      summary: {},
      ref_scheme: 'weave',
    },
    inputs_json: JSON.stringify(inputs),
    output_json: 'null',
  }).start?.end_user_id

describe('the end user of a call', () => {
  it.each([
    'enduser.id',
    'user.id',
    'langfuse.user.id',
    'metadata.user_id',
    'mastra.metadata.userId',
    'langsmith.metadata.user_id',
    'ai.telemetry.metadata.userId',
    'traceloop.association.properties.user_id',
    'gen_ai.user',
  ])('is the attribute %s of a span', (name) => {
    expect(ofSpan({ [name]: 'Ada L.' })).toBe('Ada L.')
  })

  it('is a whole number of a span as its digits', () => {
    expect(ofSpan({ 'user.id': 42 })).toBe('42')
  })

  it.each([
    [{ end_user_id: 'a', user: 'b' }, 'a'],
    [{ user: { id: 'a' } }, 'a'],
    [{ 'user.id': 'a' }, 'a'],
    [{ enduser: { id: 'a' } }, 'a'],
    [{ user_id: 'a' }, 'a'],
    [{ metadata: { user_id: ' a ' } }, 'a'],
    [{ user_id: 7 }, '7'],
    [{ user: '', user_id: 'a' }, 'a'],
    [{ user: true }, null],
    [{ user: 'x'.repeat(257) }, null],
    [{}, null],
    [null, null],
  ])('of attributes %j is %j', (attributes, expected) => {
    expect(readEndUser(attributes, {})).toBe(expected)
  })

  it.each([
    [{ ...CHAT, user: 'a' }, 'a'],
    [{ ...CHAT, user: 'b', safety_identifier: 'a' }, 'a'],
    [{ ...CHAT, metadata: { user_id: 'a' } }, 'a'],
    [{ model: 'm', input: 'hi', safety_identifier: 'a' }, 'a'],
    [CHAT, null],
    [{ user: 'a', question: 'no request to a model' }, null],
  ])('of the request %j is %j', (inputs, expected) => {
    expect(readEndUser({}, inputs)).toBe(expected)
    expect(ofRequest(inputs)).toBe(expected)
  })

  it('in attributes comes before that of the request', () => {
    expect(readEndUser({ user: 'a' }, { ...CHAT, user: 'b' })).toBe('a')
  })
})
