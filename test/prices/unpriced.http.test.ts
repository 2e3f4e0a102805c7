import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const PROJECT = { project_id: 'acme/demo' }
const URL = '/cost/unpriced'

async function record(app: TestApp, id: string, usage: object, ageMs = 0) {
  const started_at = new Date(Date.now() - ageMs - 1000).toISOString()
  const start = { ...PROJECT, id, trace_id: id, op_name: 'o', started_at }
  await app.post('/call/start', { start: { ...start, attributes: {}, inputs: {} } })
  const end = { ...PROJECT, id, ended_at: started_at, summary: { usage } }
  expect((await app.post('/call/end', { end })).status).toBe(200)
}

describe(`POST ${URL}`, () => {
  itRefusesBadRequests({ url: URL, body: PROJECT, scope: 'traces:read' })

  it('lists the models of which calls have no price, with what clients report', async () => {
    const app = await buildTestApp()
    const tokens = { prompt_tokens: 5, completion_tokens: 2 }
    await record(app, 'a', { bare: tokens, 'gpt-4o': tokens })
    await record(app, 'b', { told: { ...tokens, cost: 0.25 } })
    await record(app, 'c', { both: { ...tokens, cost: 0.5 } })
    await record(app, 'd', { both: tokens })
    const { body } = await app.post(URL, PROJECT)
    const counts = { calls: 1, input_tokens: 5, output_tokens: 2 }
    expect(body.models).toEqual([
      { llm_id: 'bare', ...counts, known_cost: null, has_reported_cost: false, lacks_cost: true },
      {
        llm_id: 'both',
        calls: 2,
        input_tokens: 10,
        output_tokens: 4,
        known_cost: 0.5,
        has_reported_cost: true,
        lacks_cost: true,
      },
      { llm_id: 'told', ...counts, known_cost: 0.25, has_reported_cost: true, lacks_cost: false },
    ])
  })

  it('leaves a model out once the project has a price of it', async () => {
    const app = await buildTestApp()
    await record(app, 'a', { bare: { prompt_tokens: 5 } })
    const price = { prompt_token_cost: 1, completion_token_cost: 1 }
    const costs = { bare: { ...price, effective_date: '2020-01-01T00:00:00Z' } }
    await app.post('/cost/create', { ...PROJECT, costs })
    expect((await app.post(URL, PROJECT)).body.models).toEqual([])
  })

  it('looks at the calls of the window, by default of 30 days', async () => {
    const app = await buildTestApp()
    const days = (count: number) => count * 86_400_000
    await record(app, 'old', { old: { prompt_tokens: 5 } }, days(40))
    await record(app, 'new', { new: { prompt_tokens: 5 } })
    const namesOf = async (window: object) =>
      (await app.post(URL, { ...PROJECT, ...window })).body.models.map(
        ({ llm_id }: { llm_id: string }) => llm_id,
      )
    const at = (ageMs: number) => new Date(Date.now() - ageMs).toISOString()
    expect(await namesOf({})).toEqual(['new'])
    expect(await namesOf({ start: at(days(50)) })).toEqual(['new', 'old'])
    expect(await namesOf({ end: at(days(35)) })).toEqual(['old'])
    const { status, body } = await app.post(URL, {
      ...PROJECT,
      start: at(days(1)),
      end: at(days(2)),
    })
    expect([status, body.error.param]).toEqual([422, 'end'])
  })
})
