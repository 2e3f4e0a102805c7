import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const READ = { project_id: 'acme/demo', id: 'call-1' }

/** The summary.weave of a call with this usage, read with the switch. */
async function readWeave(usage: unknown, include_costs: unknown) {
  const { post } = await buildTestApp()
  await post('/call/start', { start: { ...STARTED, id: 'call-1' } })
  await post('/call/end', { end: { ...ENDED, summary: { usage } } })
  const { status, body } = await post('/call/read', { ...READ, include_costs })
  expect(status).toBe(200)
  return body.call.summary.weave
}

describe('POST /call/read with §4.5 include_costs', () => {
  it('fills the costs of each model', async () => {
    const usage = { 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 100 }, mystery: {} }
    const { costs } = await readWeave(usage, true)
    expect(Object.keys(costs)).toEqual(['gpt-4o'])
    expect(costs['gpt-4o']).toMatchObject({
      prompt_tokens: 1000,
      prompt_tokens_total_cost: 0.0025,
      completion_tokens_total_cost: 0.001,
      provider_id: 'openai',
      pricing_level: 'default',
    })
  })

  it.each([false, null, undefined])('has no costs key for %j', async (switched) => {
    expect(await readWeave({ 'gpt-4o': { prompt_tokens: 1 } }, switched)).not.toHaveProperty(
      'costs',
    )
  })

  it.each([{}, { mystery: { prompt_tokens: 1 } }])('has no costs key for %j', async (usage) => {
    expect(await readWeave(usage, true)).not.toHaveProperty('costs')
  })
})
