import { describe, expect, it } from 'vitest'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { createModel, UNKNOWN_ID, UUID } from '../training/preview-fixtures.ts'

const urlOf = (model_id: string, query = '') => `/v1/preview/models/${model_id}/checkpoints${query}`

/** Id of the checkpoint of a step; a UUID that says nothing about the order. */
function checkpointId(step: number): string {
  const scattered = (step * 2_654_435_761) % 2 ** 32
  return `${scattered.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
}

async function insertSteps({ deps }: TestApp, model_id: string, steps: readonly number[]) {
  for (const step of steps) {
    await deps.checkpoints.insertCheckpoint({
      id: checkpointId(step),
      model_id,
      step,
      metrics: { reward: step / 10 },
      created_at_us: 1,
    })
  }
}

async function appWithSteps(count: number) {
  const testApp = await buildTestApp()
  const model_id = await createModel(testApp)
  // Out of order, because the list is by step and not by arrival.
  const steps = Array.from({ length: count }, (_, at) => at).reverse()
  await insertSteps(testApp, model_id, steps)
  return { testApp, model_id }
}

const stepsOf = (body: { data: { step: number }[] }) => body.data.map(({ step }) => step)

describe('GET /v1/preview/models/{model_id}/checkpoints', () => {
  describe('200', () => {
    it('answers §2.13 id, §2.13 step, §2.13 metrics of each checkpoint and no more', async () => {
      const { testApp, model_id } = await appWithSteps(2)
      const { status, body } = await testApp.get(urlOf(model_id))
      expect(status).toBe(200)
      expect(body.data).toEqual([
        { id: checkpointId(0), step: 0, metrics: { reward: 0 } },
        { id: checkpointId(1), step: 1, metrics: { reward: 0.1 } },
      ])
      expect(body.data[0].id).toMatch(UUID)
    })

    it('answers §4.9 response data, §4.9 response has_more, §4.9 response object, §4.9 response first_id, §4.9 response last_id', async () => {
      const { testApp, model_id } = await appWithSteps(3)
      const { body } = await testApp.get(urlOf(model_id, '?limit=2'))
      expect(body).toEqual({
        data: [expect.objectContaining({ step: 0 }), expect.objectContaining({ step: 1 })],
        has_more: true,
        object: 'list',
        first_id: checkpointId(0),
        last_id: checkpointId(1),
      })
    })

    it('answers an empty page with empty ids and nothing more', async () => {
      const { testApp, model_id } = await appWithSteps(0)
      const { status, body } = await testApp.get(urlOf(model_id))
      expect([status, body]).toEqual([
        200,
        { data: [], has_more: false, object: 'list', first_id: '', last_id: '' },
      ])
    })

    it('goes on behind §4.9 after, in either case of its letters', async () => {
      const { testApp, model_id } = await appWithSteps(4)
      const cursor = checkpointId(1)
      for (const after of [cursor, cursor.toUpperCase()]) {
        const { body } = await testApp.get(urlOf(model_id, `?after=${after}`))
        expect([stepsOf(body), body.has_more]).toEqual([[2, 3], false])
      }
    })

    it('begins at the beginning for an empty §4.9 after', async () => {
      const { testApp, model_id } = await appWithSteps(2)
      const { body } = await testApp.get(urlOf(model_id, '?after='))
      expect(stepsOf(body)).toEqual([0, 1])
    })

    it('goes on behind a checkpoint that was deleted since, and hides it', async () => {
      const { testApp, model_id } = await appWithSteps(4)
      const first = await testApp.get(urlOf(model_id, '?limit=2'))
      await testApp.deps.checkpoints.deleteSteps(model_id, [0, 1], 2)
      const second = await testApp.get(urlOf(model_id, `?limit=2&after=${first.body.last_id}`))
      expect([stepsOf(second.body), second.body.has_more]).toEqual([[2, 3], false])
      expect(stepsOf((await testApp.get(urlOf(model_id))).body)).toEqual([2, 3])
    })

    it('never says has_more for an empty page', async () => {
      const { testApp, model_id } = await appWithSteps(3)
      const { body } = await testApp.get(urlOf(model_id, `?limit=1&after=${checkpointId(2)}`))
      expect([body.data, body.has_more, body.last_id]).toEqual([[], false, ''])
    })

    it('gives 20 for no §4.9 limit, and 1 to 100 as asked: §8 checkpoints limit', async () => {
      const { testApp, model_id } = await appWithSteps(101)
      for (const [query, count] of [
        ['', 20],
        ['?limit=1', 1],
        ['?limit=99', 99],
        ['?limit=100', 100],
      ] as const) {
        const { body } = await testApp.get(urlOf(model_id, query))
        expect([body.data.length, body.has_more]).toEqual([count, true])
      }
    })

    it('goes upwards for no §4.9 order and asc, downwards for desc', async () => {
      const { testApp, model_id } = await appWithSteps(3)
      for (const [query, steps] of [
        ['', [0, 1, 2]],
        ['?order=asc', [0, 1, 2]],
        ['?order=desc', [2, 1, 0]],
        [`?order=desc&after=${checkpointId(2)}`, [1, 0]],
        ['?order=desc&limit=1', [2]],
      ] as const) {
        const { body } = await testApp.get(urlOf(model_id, query))
        expect(stepsOf(body)).toEqual(steps)
      }
    })

    it('finds the model in any case of its letters and with a trailing slash', async () => {
      const { testApp, model_id } = await appWithSteps(1)
      for (const url of [urlOf(model_id.toUpperCase()), `${urlOf(model_id)}/`]) {
        const { status, body } = await testApp.get(url)
        expect([status, body.data?.length]).toEqual([200, 1])
      }
    })

    it('keeps the checkpoints of models apart', async () => {
      const { testApp } = await appWithSteps(2)
      const other = await createModel(testApp, { name: 'other' })
      expect((await testApp.get(urlOf(other))).body.data).toEqual([])
    })
  })

  describe('401 and 403', () => {
    it('needs a key with the scope', async () => {
      const { get, createKey } = await buildTestApp()
      const refused = [
        [null, 401, 'missing_api_key'],
        ['wk_wrong', 401, 'invalid_api_key'],
        [await createKey({ scopes: ['inference', 'worker', 'traces:read'] }), 403, 'scope_missing'],
      ] as const
      for (const [key, status, code] of refused) {
        const answer = await get(urlOf(UNKNOWN_ID), { key })
        expect([answer.status, answer.body.error.code]).toEqual([status, code])
      }
    })
  })

  describe('404', () => {
    it('answers the same model_not_found for unknown, malformed and foreign models', async () => {
      const { testApp, model_id } = await appWithSteps(1)
      const key = await testApp.createKey({ projects: ['acme/other'] })
      for (const id of [UNKNOWN_ID, 'policy', '%00', 'x'.repeat(400), model_id]) {
        const { status, body } = await testApp.get(urlOf(id), { key })
        expect([status, body.error.code, body.error.param]).toEqual([
          404,
          'model_not_found',
          'model_id',
        ])
      }
      expect((await testApp.get(urlOf(model_id))).status).toBe(200)
    })

    it('answers checkpoint_not_found for a §4.9 after that is none of the model', async () => {
      const { testApp, model_id } = await appWithSteps(2)
      const other = await createModel(testApp, { name: 'other' })
      for (const [id, after] of [
        [model_id, UNKNOWN_ID],
        [model_id, 'x'],
        [other, checkpointId(1)],
      ]) {
        const { status, body } = await testApp.get(urlOf(String(id), `?after=${after}`))
        expect([status, body.error.code, body.error.param]).toEqual([
          404,
          'checkpoint_not_found',
          'after',
        ])
      }
    })
  })

  describe('422', () => {
    const wrong: Readonly<Record<string, readonly string[]>> = {
      '§4.9 limit': ['0', '101', '-1', '1.5', '1e1', 'x', '', '020', '%2B5', '5%20', '1&limit=2'],
      '§4.9 order': ['', 'ASC', 'up', 'asc&order=desc'],
      '§4.9 after': [`${'x'.repeat(129)}`, 'a&after=b'],
    }
    it.each(Object.entries(wrong))('refuses a wrong %s', async (row, values) => {
      const { testApp, model_id } = await appWithSteps(1)
      const name = row.split(' ').at(-1)
      for (const value of values) {
        const { status, body } = await testApp.get(urlOf(model_id, `?${name}=${value}`))
        expect([value, status, body.error?.code, body.error?.param]).toEqual([
          value,
          422,
          'validation_failed',
          name,
        ])
      }
    })

    it('refuses a query name that it does not know', async () => {
      const { testApp, model_id } = await appWithSteps(1)
      const { status, body } = await testApp.get(urlOf(model_id, '?before=x'))
      expect([status, body.error.param]).toEqual([422, 'before'])
    })
  })

  it('answers method_not_allowed for a POST', async () => {
    const { post } = await buildTestApp()
    const { status, body } = await post(urlOf(UNKNOWN_ID), {})
    expect([status, body.error.code]).toEqual([405, 'method_not_allowed'])
  })
})
