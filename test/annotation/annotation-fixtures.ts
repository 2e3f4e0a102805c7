/** Projects with calls and queues for the tests of annotation. */
import { expect } from 'vitest'
import type { TestApp } from '../support/build-test-app.ts'

export const PROJECT = 'acme/demo'
export const SCORER = `weave:///${PROJECT}/object/stars:abc`

/** Calls c0, c1, ... that began a second apart. */
export async function recordCalls({ post }: Pick<TestApp, 'post'>, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const start = {
      project_id: PROJECT,
      id: `c${n}`,
      trace_id: `t${n}`,
      op_name: `op-${n % 2}`,
      started_at: `2026-01-31T12:00:0${n}.000000Z`,
      attributes: {},
      inputs: {},
    }
    expect((await post('/call/start', { start })).status).toBe(200)
  }
}

export async function createQueue(
  { post }: Pick<TestApp, 'post'>,
  fields: object = {},
): Promise<string> {
  const body = { project_id: PROJECT, name: 'first', scorer_refs: [SCORER], ...fields }
  const answer = await post('/annotation_queues', body)
  expect(answer.status).toBe(200)
  return answer.body.id
}

/** A queue with calls in it, and the ids of its items. */
export async function fillQueue(app: TestApp, count: number) {
  await recordCalls(app, count)
  const queue = await createQueue(app)
  const call_ids = Array.from({ length: count }, (_, n) => `c${n}`)
  const url = `/annotation_queues/${queue}/items`
  const added = await app.post(url, { project_id: PROJECT, call_ids, display_fields: ['inputs'] })
  expect(added.body).toEqual({ added_count: count, duplicates: 0 })
  const { body } = await app.post(`${url}/query`, { project_id: PROJECT })
  const items: string[] = body.items.map(({ id }: { id: string }) => id)
  return { queue, url, items }
}
