import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  findReportedError,
  parseRetryAfter,
  toBodyError,
  toConnectionError,
  toStatusError,
} from '../../../../src/inference/openai/upstream/errors.ts'
import { createRedact } from '../../../../src/inference/openai/upstream/redaction.ts'

const HOST = '10.0.0.7:8000'
const KEY = 'sk-upstream-0123456789'
const REDACT = createRedact(new URL(`http://${HOST}/v1`), KEY)
const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

function statusError(status: number, body: unknown = {}, retryAfterS: number | null = null) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return toStatusError({ status, text, retryAfterS, redact: REDACT })
}

describe('toStatusError', () => {
  it.each([
    [400, 'invalid_value'],
    [413, 'request_too_large'],
    [422, 'validation_failed'],
    [401, 'upstream_auth'],
    [403, 'upstream_auth'],
    [404, 'upstream_error'],
    [409, 'upstream_error'],
    [429, 'upstream_rate_limited'],
    [301, 'upstream_error'],
    [204, 'upstream_error'],
    [500, 'upstream_error'],
    [503, 'upstream_error'],
  ])('reads status %i as %s', (status, code) => {
    expect(statusError(status)).toMatchObject({ code })
  })

  it.each([
    ['nested', { error: { message: 'top_k is odd', param: 'top_k', code: 400 } }],
    ['flat', { object: 'error', message: 'top_k is odd', param: 'top_k', code: 400 }],
  ])('passes message and param of a %s error body', (_name, body) => {
    expect(statusError(400, body)).toMatchObject({ message: 'top_k is odd', param: 'top_k' })
  })

  it.each([
    ['a text', 'top_k is odd'],
    ['a list of problems', [{ loc: ['body', 'top_k'], msg: 'top_k is odd' }, { msg: 'n is odd' }]],
  ])('passes the message of a body whose detail is %s, as of FastAPI', (_name, detail) => {
    expect(statusError(422, { detail })).toMatchObject({ message: 'top_k is odd', param: null })
  })

  it.each([
    "This model's maximum context length is 10 tokens",
    'You passed 90 input tokens and requested 10 output tokens',
    "Input length (90) exceeds model's maximum context length",
    'the request exceeds the available context size',
    "The input is longer than the model's context length",
  ])('knows a prompt that is too long: %s', (message) => {
    expect(statusError(400, { error: { message } })).toMatchObject({
      code: 'context_length_exceeded',
      message,
    })
  })

  it.each(['exceed_context_size_error', 'context_length_exceeded'])(
    'knows the type %s as a prompt that is too long',
    (type) => {
      expect(statusError(400, { error: { message: 'too long', type } }).code).toBe(
        'context_length_exceeded',
      )
    },
  )

  it.each([
    { message: 'The response was filtered', code: 'content_filter' },
    { message: 'Rejected by the safety system', code: 'content_policy_violation' },
    { message: 'Output blocked by content filtering policy', type: 'invalid_request_error' },
  ])('knows a refusal by a content filter: %j', (error) => {
    const { code, message } = statusError(400, { error })
    expect([code, message]).toEqual(['content_filter', error.message])
  })

  it.each([
    ['HTML', '<html><body>nginx</body></html>'],
    ['HTML in an error body', { error: { message: '<html><h1>502</h1></html>' } }],
    ['nothing', ''],
    ['another type', { error: { message: 7, param: 7 } }],
    ['a list of nothing', { detail: [] }],
  ])('gives its own words for %s', (_name, body) => {
    const error = statusError(400, body)
    expect(error).toMatchObject({ code: 'invalid_value', param: null })
    expect(error.message).not.toMatch(/[<7]/)
  })

  it('tells the log how an upstream names its error, and none of its text', () => {
    const error = { message: 'no room for "my prompt"', type: 'InternalServerError', code: 'a b' }
    for (const body of [{ error }, error]) {
      const { cause } = statusError(500, body)
      expect(cause).toMatchObject({ message: 'upstream status 500 InternalServerError' })
    }
    expect(statusError(503, 'my prompt').cause).toMatchObject({ message: 'upstream status 503' })
  })

  it('takes addresses out of messages and bounds them', () => {
    const message = `see http://${HOST}/v1/x or ${HOST} ${'y'.repeat(5000)}`
    const error = statusError(400, { error: { message } })
    expect(error.message).not.toContain('10.0.0.7')
    expect(error.message.length).toBeLessThan(1100)
  })

  it('takes the key out of message and param, also where the limit cuts', () => {
    for (let fill = 970; fill <= 1000; fill++) {
      const message = `${'y'.repeat(fill)} ${KEY}`
      const error = statusError(400, { error: { message, param: `Bearer ${KEY}` } })
      expect(error.message).not.toContain('sk-')
      expect(error.param).toBe('Bearer [key]')
    }
    const flat = statusError(422, { code: 'x', error: `Incorrect API key provided: ${KEY}` })
    expect(flat.message).toBe('Incorrect API key provided: [key]')
  })

  it('logs no text of an error that the client caused', () => {
    const error = { message: 'odd "my prompt"', param: 'my prompt', type: 'BadRequestError' }
    expect(statusError(400, { error })).toMatchObject({
      isQuoted: true,
      cause: { message: 'upstream status 400 BadRequestError' },
    })
    for (const name of [KEY, 'sk-other-0123']) {
      const { cause } = statusError(400, { error: { ...error, type: name, code: name } })
      expect(cause).toMatchObject({ message: 'upstream status 400' })
    }
  })

  it('never passes on the words of other statuses', () => {
    for (const status of [401, 403, 404, 429, 500]) {
      expect(statusError(status, { error: { message: 'org-secret' } }).message).not.toContain(
        'secret',
      )
    }
  })

  it('passes the wait on that the upstream asks for', () => {
    expect(statusError(429, {}, 7).retryAfterS).toBe(7)
    expect(statusError(429).retryAfterS).toBeNull()
  })
})

describe('parseRetryAfter', () => {
  it.each([
    [undefined, null],
    ['7', 7],
    ['0', 0],
    ['999999999', 86_400],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['soon', null],
  ])('reads %s as %s', (header, seconds) => {
    expect(parseRetryAfter(header, NOW_MS)).toBe(seconds)
  })
})

describe('findReportedError', () => {
  it.each([
    [
      { error: { message: 'odd', code: 400, param: 'n' } },
      { code: 'invalid_value', message: 'odd', param: 'n' },
    ],
    [{ error: { message: 'odd', type: 'BadRequestError' } }, { code: 'invalid_value' }],
    [{ error: { type: 'invalid_request_error', code: 'x' } }, { code: 'invalid_value' }],
    [
      { object: 'error', message: 'odd', code: 400 },
      { code: 'invalid_value', message: 'odd' },
    ],
    [
      { type: 'error', message: 'odd', code: '400' },
      { code: 'invalid_value', message: 'odd' },
    ],
    [{ error: { code: 'content_filter' } }, { code: 'content_filter' }],
    [{ error: { code: 429 } }, { code: 'upstream_rate_limited' }],
    [{ error: { code: '429' } }, { code: 'upstream_rate_limited' }],
    [
      { error: { message: 'boom', code: 500 } },
      { code: 'upstream_error', message: 'The upstream failed with status 500.' },
    ],
  ])('reads %j', (value, expected) => {
    expect(findReportedError(value, REDACT)).toMatchObject(expected)
  })

  it.each([[{ message: 'boom' }], [{ type: 'server_error', code: null }], [{ code: 1 }], ['boom']])(
    'names no status for %j, which names none',
    (error) => {
      const found = findReportedError({ error }, REDACT)
      expect(found).toMatchObject({ code: 'upstream_error', message: 'The upstream failed.' })
      expect(found?.cause).toMatchObject({ message: expect.stringMatching(/^upstream error/) })
    },
  )

  it.each([[{}], [{ error: null }], [{ error: '', object: 'chat.completion' }]])(
    'finds none in %j',
    (value) => {
      expect(findReportedError(value, REDACT)).toBeNull()
    },
  )
})

describe('failures of a connection', () => {
  it.each([
    ['ECONNREFUSED', 'upstream_unreachable'],
    ['ECONNRESET', 'upstream_unreachable'],
    ['ENOTFOUND', 'upstream_unreachable'],
    ['EAI_AGAIN', 'upstream_unreachable'],
    ['UND_ERR_SOCKET', 'upstream_unreachable'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'upstream_unreachable'],
    ['UND_ERR_CONNECT_TIMEOUT', 'upstream_timeout'],
    ['ETIMEDOUT', 'upstream_timeout'],
    ['HPE_INVALID_CONSTANT', 'upstream_invalid_response'],
    ['UND_ERR_HEADERS_OVERFLOW', 'upstream_invalid_response'],
  ])('reads %s before an answer as %s', (code, expected) => {
    expect(toConnectionError(Object.assign(new Error('x'), { code }), false)).toMatchObject({
      code: expected,
    })
  })

  it.each([
    ['UND_ERR_SOCKET', 'upstream_error'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'upstream_error'],
    ['HPE_INVALID_EOF_STATE', 'upstream_error'],
    ['HPE_INVALID_CHUNK_SIZE', 'upstream_invalid_response'],
    ['Z_DATA_ERROR', 'upstream_invalid_response'],
  ])('reads %s within an answer as %s', (code, expected) => {
    expect(toBodyError(Object.assign(new Error('x'), { code })).code).toBe(expected)
  })
  it('keep the bytes that the parser held out of the log', () => {
    const failure = Object.assign(new Error('no HTTP'), { code: 'HPE_INVALID_CONSTANT', data: KEY })
    for (const { cause } of [
      toConnectionError(failure, false),
      toConnectionError(failure, true),
      toBodyError(failure),
    ]) {
      expect(inspect(cause, { depth: 9 })).not.toContain(KEY)
      expect(inspect(cause, { depth: 9 })).toContain('HPE_INVALID_CONSTANT')
    }
  })
})
