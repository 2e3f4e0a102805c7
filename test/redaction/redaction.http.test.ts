/** Redaction of a project: nothing of what it names is stored, by whichever way it comes. */
import { describe, expect, it } from 'vitest'
import { buildApp } from '../chat/messages/scripted-messages.ts'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { finish, piece, prompt } from '../support/scripted-backend.ts'

const PROJECT = 'acme/demo'
const MAIL = 'ann@mail.example'
const CARD = '4111 1111 1111 1111'
const LOGGED = 'reply to bob@mail.example'
const SECRET = `write to ${MAIL}, card ${CARD}`
const SAID = 'write to [redacted:email], card [redacted:card]'
const RULES = {
  project_id: PROJECT,
  kinds: ['email', 'card'],
  patterns: [{ name: 'order', pattern: 'ORD-\\d+' }],
}
const start = (more: object = {}) => ({
  project_id: PROJECT,
  id: 'c1',
  trace_id: 't1',
  op_name: 'op',
  started_at: '2026-01-01T00:00:00Z',
  attributes: { who: MAIL },
  inputs: { text: SECRET },
  ...more,
})
const end = (more: object = {}) => ({
  project_id: PROJECT,
  id: 'c1',
  ended_at: '2026-01-01T00:00:01Z',
  output: { order: 'ORD-17' },
  exception: SECRET,
  summary: { note: MAIL },
  ...more,
})

type App = Awaited<ReturnType<typeof buildTestApp>>

async function redacting(app: App) {
  expect((await app.post('/project/redaction/update', RULES)).status).toBe(200)
  return app
}

async function readCall({ post }: App, id: string) {
  const { body } = await post('/call/read', { project_id: PROJECT, id })
  return body.call
}

describe('a call', () => {
  it('that is sent in two parts has marks, and says how many', async () => {
    const app = await redacting(await buildTestApp())
    await app.post('/call/start', { start: start() })
    await app.post('/call/end', { end: end() })
    const call = await readCall(app, 'c1')
    expect(call).toMatchObject({
      attributes: { who: '[redacted:email]', redacted: { email: 2, card: 1 } },
      inputs: { text: SAID },
      output: { order: '[redacted:order]' },
      exception: SAID,
      summary: { note: '[redacted:email]', redacted: { order: 1, email: 2, card: 1 } },
    })
    expect(JSON.stringify(call)).not.toContain(MAIL)
  })

  it.each([
    ['little text', ''],
    ['much text, in a thread', 'lorem ipsum '.repeat(20_000)],
  ])('of a batch has marks, also with %s', async (_, filler) => {
    const app = await redacting(await buildTestApp())
    const batch = [
      { mode: 'start', req: { start: start({ inputs: { text: `${SECRET}${filler}` } }) } },
      { mode: 'end', req: { end: end({ output: `${filler}${MAIL}` }) } },
    ]
    expect((await app.post('/call/upsert_batch', { batch })).status).toBe(200)
    const call = await readCall(app, 'c1')
    expect(call.inputs.text === `${SAID}${filler}`).toBe(true)
    expect(call.output === `${filler}[redacted:email]`).toBe(true)
  })

  it('of another project, and of one whose redaction has ended, is stored as it was sent', async () => {
    const app = await redacting(await buildTestApp())
    await app.post('/call/start', { start: start({ project_id: 'acme/other' }) })
    const { body } = await app.post('/call/read', { project_id: 'acme/other', id: 'c1' })
    expect(body.call.inputs.text).toBe(SECRET)
    await app.post('/project/redaction/update', { project_id: PROJECT })
    await app.post('/call/start', { start: start() })
    expect((await readCall(app, 'c1')).inputs.text).toBe(SECRET)
  })

  it('that is sent again is compared as it would be stored now', async () => {
    const { post } = await redacting(await buildTestApp())
    const repeat = async () => (await post('/call/start', { start: start() })).status
    expect([await repeat(), await repeat()]).toEqual([200, 200])
    await post('/project/redaction/update', { project_id: PROJECT })
    const refused = await post('/call/start', { start: start() })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'call_conflict'])
    await post('/project/redaction/update', RULES)
    expect(await repeat()).toBe(200)
  })

  it('of a span and its logs has marks', async () => {
    const app = await redacting(await buildTestApp())
    const span = {
      traceId: `${'0'.repeat(31)}1`,
      spanId: `${'0'.repeat(15)}1`,
      name: 'chat',
      startTimeUnixNano: '1767225600000000000',
      endTimeUnixNano: '1767225601000000000',
      attributes: [{ key: 'note', value: { stringValue: SECRET } }],
    }
    const resource = { attributes: [{ key: 'wandb.entity', value: { stringValue: 'acme' } }] }
    const payload = { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }
    const headers = { authorization: basic(app.key), project_id: PROJECT }
    const sent = await app.app.inject({ method: 'POST', url: '/otel/v1/traces', headers, payload })
    expect(sent.statusCode).toBe(200)
    const log = {
      traceId: span.traceId,
      spanId: span.spanId,
      timeUnixNano: span.startTimeUnixNano,
      eventName: 'gen_ai.user.message',
      body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: LOGGED } }] } },
    }
    const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [log] }] }] }
    const logged = await app.post('/v1/logs', logs, { headers: { project_id: PROJECT } })
    expect(logged.status).toBe(200)
    const { text } = await app.post('/calls/stream_query', { project_id: PROJECT })
    expect(text).toContain(SAID)
    expect(text).toContain('reply to [redacted:email]')
    expect(text).not.toContain('mail.example')
  })
})

describe('a recorded completion', () => {
  it.each([
    ['little text', ''],
    ['much text', 'lorem ipsum '.repeat(10_000)],
  ])('has marks, while the model and the client get everything, with %s', async (_, filler) => {
    const { backend, ...app } = await buildApp([prompt(), piece(SECRET), finish()])
    await redacting(app)
    const headers = { authorization: `Bearer ${app.key}`, 'compat-project': PROJECT }
    const messages = [{ role: 'user', content: `${MAIL} ${filler}` }]
    const answer = await app.app.inject({
      method: 'POST',
      url: '/v1/chat/completions',
      headers,
      payload: { model: 'scripted', messages },
    })
    expect(answer.json().choices[0].message.content).toBe(SECRET)
    expect(backend.calls[0]?.request.messages).toEqual(messages)
    const call = await readCall(app, String(answer.headers['x-weft-call-id']))
    expect(call.inputs.messages[0].content === `[redacted:email] ${filler}`).toBe(true)
    expect(call.output.choices[0].message.content).toBe(SAID)
    expect(call.attributes.redacted).toEqual({ email: 2, card: 1 })
  })
})

describe('the setting', () => {
  it('is read, and is in the audit list', async () => {
    const app = await redacting(await buildTestApp())
    const { project_id, ...rules } = RULES
    expect((await app.post('/project/redaction/read', { project_id })).body).toEqual(rules)
    const { body } = await app.get(`/project/sensitive_data_settings?project_id=${PROJECT}`)
    expect(body).toEqual({ policy: 'redact' })
    const headers = { authorization: `Bearer ${app.key}` }
    const audit = await app.app.inject({ url: '/v1/audit', headers })
    expect(audit.json().data[0]).toMatchObject({
      action: 'redaction.update',
      subject_id: project_id,
    })
  })

  it.each([
    [{ kinds: ['name'] }, 'email, card, phone or key'],
    [{ patterns: [{ name: 'x', pattern: '(' }] }, 'patterns[0].pattern'],
    [{ patterns: [{ name: 'x', pattern: 'a*' }] }, 'empty text'],
    [{ patterns: [{ name: 'X', pattern: 'a' }] }, 'small letters'],
  ])('is refused with what would be accepted: %j', async (more, message) => {
    const { post } = await buildTestApp()
    const { status, text } = await post('/project/redaction/update', {
      project_id: PROJECT,
      ...more,
    })
    expect([status, text]).toEqual([422, expect.stringContaining(message)])
  })

  it('needs the scope admin', async () => {
    const app = await buildTestApp()
    const key = await app.createKey({ scopes: ['traces:write'] })
    const headers = { authorization: basic(key) }
    const payload = RULES
    const refused = await app.app.inject({
      method: 'POST',
      url: '/project/redaction/update',
      headers,
      payload,
    })
    expect(refused.json().error.code).toBe('scope_missing')
  })
})
