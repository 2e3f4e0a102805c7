import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { ask, countCalls, record } from './support/stats-fixtures.ts'

const POLLS = 12

/** One thread, which begins two reads of a key and project, with room for one more read. */
const buildNarrowApp = () =>
  buildTestApp({ dataDir: makeTempDir(), statsThreads: 1, readQueueMax: 1 })

describe('many polls of POST /calls/stats', () => {
  it('identical polls of POST /calls/stats share one read', async () => {
    const app = await buildNarrowApp()
    await record(app, { id: 'c' })
    const answers = await Promise.all(Array.from({ length: POLLS }, () => ask(app)))
    expect(answers.map(({ status }) => status)).toEqual(Array(POLLS).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.body.call_buckets[0].count).toBe(1)
  })

  it('different polls of POST /calls/stats are refused with Retry-After when the queue is full', async () => {
    const app = await buildNarrowApp()
    const answers = await Promise.all(
      Array.from({ length: POLLS }, (_, n) => ask(app, { granularity: 60 + n })),
    )
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused).toHaveLength(POLLS - 3)
    for (const { body, headers } of refused) {
      expect([body.error.code, headers['retry-after']]).toEqual(['server_overloaded', '1'])
    }
  })

  it('polls of POST /calls/stats count each call at once after its acknowledgement', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    for (let made = 1; made <= 5; made++) {
      await record(app, { id: `c${made}` })
      expect(await Promise.all([countCalls(app), countCalls(app)])).toEqual([made, made])
      expect(await countCalls(app)).toBe(made)
    }
  })

  it('polls of POST /calls/stats show a deletion and a new price at once', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    const usage = { mystery: { prompt_tokens: 10 } }
    await record(app, { id: 'c', end: { summary: { usage } } })
    const cost = async () => {
      const { body } = await ask(app, { usage_metrics: [{ metric: 'total_cost' }] })
      return body.usage_buckets[0]?.sum_total_cost
    }
    expect(await cost()).toBeNull()
    const price = { prompt_token_cost: 0.25, completion_token_cost: 0 }
    await app.post('/cost/create', { project_id: 'acme/demo', costs: { mystery: price } })
    expect(await cost()).toBe(2.5)
    await app.post('/calls/delete', { project_id: 'acme/demo', call_ids: ['c'] })
    expect([await cost(), await countCalls(app)]).toEqual([undefined, 0])
  })
})
