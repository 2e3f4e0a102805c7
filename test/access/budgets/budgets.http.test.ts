import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import {
  createScriptedBackend,
  finish,
  HELLO,
  piece,
  prompt,
  scriptedModels,
} from '../../support/scripted-backend.ts'

const BUDGETS = '/v1/budgets'
const CHAT = '/v1/chat/completions'
const project_id = 'acme/demo'
const PROJECT = { 'Compat-Project': project_id }
const BODY = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
const RIGHTS = { svc_user_id: 'ada', scopes: ['inference'], projects: ['*'] }
/** What HELLO costs by it: 3 x 0.001 + 2 x 0.002 dollars. */
const PRICE = { prompt_token_cost: 0.001, completion_token_cost: 0.002 }
const COST = 0.007

async function build(models = scriptedModels({ backend: createScriptedBackend(HELLO) })) {
  const app = await buildTestApp({}, { models })
  const costs = { scripted: PRICE, 'scripted-1': { ...PRICE, completion_token_cost: 0.02 } }
  await app.post('/cost/create', { project_id, costs })
  const { id, secret } = (await app.post('/v1/keys', RIGHTS)).body
  const budgetOf = async (more: object) =>
    (await app.post(BUDGETS, { subject_kind: 'key', subject_id: id, period: 'month', ...more }))
      .body
  const chat = (body: object = BODY, key = secret) =>
    app.post(CHAT, body, { key, headers: PROJECT })
  const spent = async () =>
    (await app.get(BUDGETS)).body.data.map(({ spent_usd }: { spent_usd: number }) => spent_usd)
  const settled = (usd: readonly number[]) => expect.poll(spent, { timeout: 10_000 }).toEqual(usd)
  return { ...app, id, secret, budgetOf, chat, settled }
}

describe('budgets of requests to models', () => {
  it.each([false, true])(
    'a request beyond a budget is 429, which says which, how much and until when, stream %s',
    async (stream) => {
      const { budgetOf, chat, settled } = await build()
      await budgetOf({ hard_usd: COST, soft_usd: 0.001 })
      const first = await chat({ ...BODY, stream })
      expect(first.status).toBe(200)
      expect(first.headers).toMatchObject({
        'x-weft-budget': 'month budget of the key',
        'x-weft-budget-limit-usd': '0.007',
        'x-weft-budget-remaining-usd': '0',
        'x-weft-budget-reset': expect.stringMatching(/-01T00:00:00/),
      })
      const second = await chat({ ...BODY, stream })
      expect([second.status, second.body.error.code]).toEqual([429, 'budget_exceeded'])
      expect(second.body.error.message).toMatch(
        /^The month budget of the key is used up: 0.007 of 0.007 dollars are spent, .*next period begins at /,
      )
      expect(second.headers).toMatchObject({
        'x-should-retry': 'false',
        'x-weft-budget-warning': 'month budget of the key: 0.007 of 0.001 dollars are spent',
      })
      await settled([COST])
    },
  )

  it('budgets of a project and of a person count the requests of their keys', async () => {
    const { post, budgetOf, chat, settled } = await build()
    await budgetOf({ subject_kind: 'project', subject_id: project_id, hard_usd: 1 })
    await budgetOf({ subject_kind: 'person', subject_id: 'ada', hard_usd: 2 * COST })
    const other = (await post('/v1/keys', RIGHTS)).body.secret
    expect([(await chat()).status, (await chat(BODY, other)).status]).toEqual([200, 200])
    const refused = await chat()
    expect(refused.body.error.message).toContain('month budget of the person')
    await settled([2 * COST, 2 * COST])
  })

  it('a message reserves no more than its max_tokens, and is counted and refused like a chat', async () => {
    const { post, budgetOf, secret, settled } = await build()
    await budgetOf({ hard_usd: 10 })
    const send = () => post('/v1/messages', BODY, { key: secret, headers: PROJECT })
    const { status, headers } = await send()
    expect(status).toBe(200)
    expect(Number(headers['x-weft-budget-remaining-usd'])).toBeGreaterThan(9)
    await settled([COST])
    await budgetOf({ hard_usd: COST / 2, period: 'day' })
    await expect.poll(async () => (await send()).status, { timeout: 10_000 }).toBe(429)
    expect((await send()).body).toMatchObject({
      type: 'error',
      error: { type: 'rate_limit_error' },
    })
  })

  it('a model without a price is refused by name, without a budget it is not', async () => {
    const { post, budgetOf, secret } = await build()
    const chat = () => post(CHAT, BODY, { key: secret })
    expect((await chat()).status).toBe(200)
    await budgetOf({ hard_usd: 1 })
    await expect.poll(async () => (await chat()).body.error?.code).toBe('model_unpriced')
  })

  it('both secrets of a rotated key count for its budget', async () => {
    const { post, id, secret, budgetOf, chat } = await build()
    await budgetOf({ hard_usd: COST })
    const next = (await post(`/v1/keys/${id}/rotate`, { overlap_seconds: 60 })).body.secret
    expect([(await chat(BODY, secret)).status, (await chat(BODY, next)).status]).toEqual([200, 429])
  })

  it('a response ends and is counted whose key expires meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const script = [prompt(), piece('Hel'), promise, piece('lo'), finish()]
    const models = scriptedModels({ backend: createScriptedBackend(script) })
    const { patch, id, budgetOf, chat, settled } = await build(models)
    await budgetOf({ hard_usd: 1 })
    const running = chat({ ...BODY, stream: true })
    await patch(`/v1/keys/${id}`, { expires_at: '2020-01-01T00:00:00Z' })
    await expect.poll(async () => (await chat()).status, { timeout: 10_000 }).toBe(401)
    resolve()
    expect((await running).text).toContain('[DONE]')
    await settled([COST])
  })

  it('a fallback is counted at its own price, and the model that failed at none', async () => {
    const failing = createScriptedBackend([new ApiError('upstream_error')])
    const backend = createScriptedBackend(HELLO)
    const models = scriptedModels({ backend: failing, fallbacks: ['scripted-1'] }, { backend })
    const { budgetOf, chat, settled } = await build(models)
    await budgetOf({ hard_usd: 1 })
    expect((await chat()).headers['x-weft-backend']).toBe('scripted-1')
    await settled([0.043])
  })
})

describe('/v1/budgets', () => {
  it('creates, edits and deletes budgets', async () => {
    const { get, patch, delete: remove, budgetOf, id } = await build()
    const made = await budgetOf({ hard_usd: 12.5, zone: 'Europe/Berlin' })
    expect(made).toMatchObject({ subject_id: id, hard_usd: 12.5, soft_usd: null, spent_usd: 0 })
    const edited = await patch(`${BUDGETS}/${made.id}`, { soft_usd: 10 })
    expect(edited.body).toEqual({ ...made, soft_usd: 10 })
    expect((await get(BUDGETS)).body.data).toEqual([edited.body])
    expect((await remove(`${BUDGETS}/${made.id}`)).body).toEqual({ id: made.id, deleted: true })
    expect((await remove(`${BUDGETS}/${made.id}`)).body.error.code).toBe('budget_not_found')
  })

  it.each([
    [{ hard_usd: null }, 422, 'hard_usd'],
    [{ hard_usd: -1 }, 422, 'hard_usd'],
    [{ hard_usd: 1, period: 'year' }, 422, 'period'],
    [{ hard_usd: 1, zone: 'Mars' }, 422, 'zone'],
    [{ hard_usd: 1, subject_id: 'unknown' }, 404, 'subject_id'],
    [{ hard_usd: 1, subject_kind: 'project', subject_id: 'acme' }, 422, 'subject_id'],
  ])('refuses %j', async (body, status, param) => {
    const { post, id } = await build()
    const key = { subject_kind: 'key', subject_id: id, period: 'day' }
    const refused = await post(BUDGETS, { ...key, ...body })
    expect([refused.status, refused.body.error.param]).toEqual([status, param])
  })

  it('shows an admin of some projects only the budgets of these', async () => {
    const { get, post, createKey, budgetOf } = await build()
    const made = await budgetOf({ subject_kind: 'project', subject_id: project_id, hard_usd: 1 })
    await budgetOf({ subject_kind: 'person', subject_id: 'ada', hard_usd: 1 })
    await budgetOf({ hard_usd: 1 })
    const key = await createKey({ scopes: ['admin'], projects: ['acme/*'] })
    const { data } = (await get(BUDGETS, { key })).body
    expect(data.map(({ id }: { id: string }) => id)).toEqual([made.id])
    const person = { subject_kind: 'person', subject_id: 'ada', period: 'day', hard_usd: 1 }
    expect((await post(BUDGETS, person, { key })).status).toBe(403)
  })
})
