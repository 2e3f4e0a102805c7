import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const PROJECT = 'acme/demo'
const URL = '/threads/stream_query'
const UUID = '0198c1a2-0000-7000-8000-00000000000'

interface Made {
  readonly id: string
  readonly thread_id?: string
  readonly turn_id?: string
  /** Seconds after noon. */
  readonly from: number
  readonly to?: number
}

const at = (second: number) => `2026-01-31T12:00:${String(second).padStart(2, '0')}.000000Z`

async function record({ post }: TestApp, calls: readonly Made[]): Promise<void> {
  for (const { from, to, ...ids } of calls) {
    const start = {
      project_id: PROJECT,
      op_name: 'turn',
      started_at: at(from),
      attributes: {},
      inputs: {},
      ...ids,
    }
    expect((await post('/call/start', { start })).status).toBe(200)
    const end = { project_id: PROJECT, id: ids.id, ended_at: at(to ?? 0), summary: {} }
    if (to !== undefined) expect((await post('/call/end', { end })).status).toBe(200)
  }
}

const turn = (id: string, thread_id: string, from: number, to?: number): Made => ({
  id,
  turn_id: id,
  thread_id,
  from,
  ...(to === undefined ? {} : { to }),
})

const CALLS: readonly Made[] = [
  turn('t1', 'talk', 1, 3),
  turn('t2', 'talk', 4, 8),
  { id: 'inner', thread_id: 'talk', turn_id: 't2', from: 5, to: 30 },
  turn(`${UUID}1`, `${UUID}9`, 2, 20),
  turn('runs', 'running', 9),
  { id: 'lonely', thread_id: 'without-turns', from: 1 },
  { id: 'no-thread', turn_id: 'no-thread', from: 1 },
]

async function list({ post }: TestApp, body: object = {}, root = '') {
  const { status, text } = await post(`${root}${URL}`, { project_id: PROJECT, ...body })
  expect(status).toBe(200)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

const idsOf = (threads: readonly { thread_id: string }[]) => threads.map((each) => each.thread_id)

describe(`POST ${URL}`, () => {
  it.each(['', '/traces'])('sums turns alone, the last updated first, below %s/', async (root) => {
    const app = await buildTestApp()
    await record(app, CALLS)
    expect(await list(app, {}, root)).toEqual([
      {
        thread_id: `${UUID}9`,
        turn_count: 1,
        start_time: at(2),
        last_updated: at(20),
        first_turn_id: `${UUID}1`,
        last_turn_id: `${UUID}1`,
        p50_turn_duration_ms: 18_000,
        p99_turn_duration_ms: 18_000,
      },
      {
        thread_id: 'running',
        turn_count: 1,
        start_time: at(9),
        last_updated: at(9),
        first_turn_id: 'runs',
        last_turn_id: 'runs',
        p50_turn_duration_ms: null,
        p99_turn_duration_ms: null,
      },
      {
        thread_id: 'talk',
        turn_count: 2,
        start_time: at(1),
        last_updated: at(8),
        first_turn_id: 't1',
        last_turn_id: 't2',
        p50_turn_duration_ms: 3000,
        p99_turn_duration_ms: 3980,
      },
    ])
  })

  it('filters, sorts with missing values last, and pages', async () => {
    const app = await buildTestApp()
    await record(app, CALLS)
    const listed = async (body: object) => idsOf(await list(app, body))
    expect(await listed({ filter: { after_datetime: at(1) } })).toEqual([`${UUID}9`, 'running'])
    expect(await listed({ filter: { before_datetime: at(9) } })).toEqual(['talk'])
    const thread_ids = ['talk', `${UUID}9`, 'unknown', 'talk']
    expect(await listed({ filter: { thread_ids } })).toEqual([`${UUID}9`, 'talk'])
    expect(await listed({ filter: { thread_ids: [] } })).toHaveLength(3)
    const by = (field: string, direction: string) => ({ sort_by: [{ field, direction }] })
    expect(await listed(by('thread_id', 'asc'))).toEqual([`${UUID}9`, 'running', 'talk'])
    expect(await listed(by('turn_count', 'desc'))).toEqual(['talk', `${UUID}9`, 'running'])
    for (const [direction, order] of [
      ['asc', ['talk', `${UUID}9`, 'running']],
      ['desc', [`${UUID}9`, 'talk', 'running']],
    ] as const) {
      expect(await listed(by('p50_turn_duration_ms', direction))).toEqual(order)
    }
    expect(await listed({ limit: 1, offset: 1 })).toEqual(['running'])
    expect(await listed({ limit: 0 })).toEqual([])
    expect(await listed({ offset: 5 })).toEqual([])
  })

  it('reports a duration of 0 for a turn that ends before its start', async () => {
    const app = await buildTestApp()
    await record(app, [turn('odd', 'talk', 5, 3), turn('even', 'talk', 1, 2)])
    const durations = { p50_turn_duration_ms: 500, turn_count: 2 }
    expect(await list(app)).toMatchObject([durations])
  })

  it('forgets deleted calls, and knows nothing of other projects', async () => {
    const app = await buildTestApp()
    await record(app, CALLS)
    await app.post('/calls/delete', { project_id: PROJECT, call_ids: ['t2', 'runs'] })
    const threads = await list(app)
    expect(threads.map(({ thread_id, turn_count }) => [thread_id, turn_count])).toEqual([
      [`${UUID}9`, 1],
      ['talk', 1],
    ])
    expect(await list(app, { project_id: 'acme/other' })).toEqual([])
  })

  it('continues across the parts in which calls are read', async () => {
    const app = await buildTestApp()
    const batch = Array.from({ length: 4200 }, (_, n) => ({
      mode: 'start',
      req: {
        start: {
          project_id: PROJECT,
          op_name: 'turn',
          started_at: at(1),
          attributes: {},
          inputs: {},
          id: `c${n}`,
          trace_id: `c${n}`,
          turn_id: `c${n}`,
          thread_id: n < 10 ? 'few' : 'many',
        },
      },
    }))
    for (let from = 0; from < batch.length; from += 1000) {
      const part = { batch: batch.slice(from, from + 1000) }
      expect((await app.post('/call/upsert_batch', part)).status).toBe(200)
    }
    const counts = (threads: { thread_id: string; turn_count: number }[]) =>
      threads.map(({ thread_id, turn_count }) => [thread_id, turn_count])
    expect(counts(await list(app))).toEqual([
      ['few', 10],
      ['many', 4190],
    ])
    expect(counts(await list(app, { filter: { thread_ids: ['many'] } }))).toEqual([['many', 4190]])
  })

  it.each([
    ['limit', { limit: -1 }],
    ['offset', { offset: 0.5 }],
    ['sort_by[0].field', { sort_by: [{ field: 'other', direction: 'asc' }] }],
    ['filter.after_datetime', { filter: { after_datetime: 'today' } }],
    ['filter.thread_ids', { filter: { thread_ids: Array(1001).fill('t') } }],
    ['more', { more: 1 }],
  ])('answers validation_failed for a bad %s', async (param, fields) => {
    const { post } = await buildTestApp()
    const { status, body } = await post(URL, { project_id: PROJECT, ...fields })
    expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
  })

  itRefusesBadRequests({ url: URL, body: { project_id: PROJECT }, scope: 'traces:read' })

  it('answers project_forbidden for a project of others', async () => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ projects: ['acme/other'] })
    const { status, body } = await post(URL, { project_id: PROJECT }, { key })
    expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
  })
})
