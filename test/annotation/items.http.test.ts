import { describe, expect, it } from 'vitest'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import { createQueue, fillQueue, PROJECT, recordCalls } from './annotation-fixtures.ts'

const TIME = expect.stringMatching(/Z$/)
const project_id = PROJECT

async function errorOf(answer: Promise<{ status: number; body: { error?: { code: string } } }>) {
  const { status, body } = await answer
  return [status, body.error?.code]
}

describeEachStore('annotation queues', (build) => {
  describe.each(['', '/traces'])('items of annotation queues below %s/', (root) => {
    it('show their calls as they are now', async () => {
      const app = await build()
      const { queue, url, items } = await fillQueue(app, 2)
      const end = { project_id, id: 'c0', ended_at: '2026-01-31T13:00:00Z', summary: {} }
      await app.post('/call/end', { end })
      const { body } = await app.post(`${root}${url}/query`, { project_id, limit: 1 })
      expect(body.items).toEqual([
        {
          id: items[0],
          project_id,
          queue_id: queue,
          call_id: 'c0',
          call_op_name: 'op-0',
          call_trace_id: 't0',
          call_started_at: '2026-01-31T12:00:00.000000Z',
          call_ended_at: '2026-01-31T13:00:00.000000Z',
          span_id: null,
          trace_id: null,
          display_fields: ['inputs'],
          added_by: 'u-1',
          annotation_state: 'unstarted',
          annotator_user_id: null,
          created_at: TIME,
          created_by: 'u-1',
          updated_at: TIME,
          deleted_at: null,
          position_in_queue: null,
        },
      ])
    })

    it('are each call once, whenever it is added', async () => {
      const app = await build()
      await recordCalls(app, 3)
      const queue = await createQueue(app)
      const add = async (call_ids: string[]) =>
        (
          await app.post(`${root}/annotation_queues/${queue}/items`, {
            project_id,
            call_ids,
            display_fields: [],
          })
        ).body
      expect(await add(['c0', 'c1', 'c0'])).toEqual({ added_count: 2, duplicates: 1 })
      expect(await add(['c0', 'c2'])).toEqual({ added_count: 1, duplicates: 1 })
      expect(await add([])).toEqual({ added_count: 0, duplicates: 0 })
    })

    it('are filtered and sorted, with places in the whole queue', async () => {
      const app = await build()
      const { url, items } = await fillQueue(app, 4)
      await app.post(`${url}/${items[2]}/progress`, { project_id, annotation_state: 'completed' })
      const list = async (fields: object) => {
        const body = { project_id, include_position: true, ...fields }
        const found = (await app.post(`${root}${url}/query`, body)).body.items
        return found.map((item: { call_id: string; position_in_queue: number }) =>
          [item.call_id, item.position_in_queue].join(':'),
        )
      }
      expect(await list({})).toEqual(['c0:1', 'c1:2', 'c2:3', 'c3:4'])
      expect(await list({ limit: 2, offset: 1 })).toEqual(['c1:2', 'c2:3'])
      const by = (field: string, direction: string) => ({ sort_by: [{ field, direction }] })
      expect(await list(by('call_started_at', 'desc'))).toEqual(['c3:1', 'c2:2', 'c1:3', 'c0:4'])
      expect(await list(by('call_op_name', 'asc'))).toEqual(['c0:1', 'c2:2', 'c1:3', 'c3:4'])
      expect(await list(by('updated_at', 'desc'))).toEqual(['c2:1', 'c0:2', 'c1:3', 'c3:4'])
      const where = (filter: object) => list({ filter })
      expect(await where({ id: items[1] })).toEqual(['c1:2'])
      expect(await where({ call_id: 'c3' })).toEqual(['c3:4'])
      expect(await where({ call_op_name: 'op-1' })).toEqual(['c1:2', 'c3:4'])
      expect(await where({ call_trace_id: 't2' })).toEqual(['c2:3'])
      expect(await where({ added_by: 'somebody' })).toEqual([])
      expect(await where({ annotation_states: ['completed', 'skipped'] })).toEqual(['c2:3'])
      expect(await where({ annotation_states: ['unstarted'], call_op_name: 'op-0' })).toEqual([
        'c0:1',
      ])
      expect(await where({ annotation_states: [] })).toHaveLength(4)
    })

    it('are claimed by one annotator at a time and finished by each once', async () => {
      const app = await build()
      const { url, items } = await fillQueue(app, 1)
      const keyOf = async (svc_user_id: string) => {
        const rights = { svc_user_id, svc_username: svc_user_id, scopes: ['traces:write'] as const }
        return (await app.deps.keys.createKey({ ...rights, projects: ['*'] })).secret
      }
      const [ann, bob] = [await keyOf('ann'), await keyOf('bob')]
      const step = (annotation_state: string, key: string) =>
        app.post(`${root}${url}/${items[0]}/progress`, { project_id, annotation_state }, { key })
      const claimed = await step('in_progress', ann)
      expect(claimed.body.item).toMatchObject({
        id: items[0],
        annotation_state: 'in_progress',
        annotator_user_id: 'ann',
      })
      expect(await errorOf(step('in_progress', bob))).toEqual([409, 'annotation_conflict'])
      expect((await step('in_progress', ann)).status).toBe(200)
      const done = await step('completed', ann)
      expect(done.body.item).toMatchObject({ annotation_state: 'completed', call_id: 'c0' })
      expect((await step('completed', ann)).body).toEqual(done.body)
      for (const again of ['skipped', 'in_progress']) {
        expect(await errorOf(step(again, ann))).toEqual([409, 'annotation_conflict'])
      }
      expect((await step('in_progress', bob)).body.item.annotator_user_id).toBe('bob')
      expect((await step('skipped', bob)).body.item.annotation_state).toBe('skipped')
    })
  })

  describe('items of annotation queues', () => {
    it('are none of unknown or deleted calls: refused at /, passed over below /traces', async () => {
      const app = await build()
      await recordCalls(app, 2)
      await app.post('/calls/delete', { project_id, call_ids: ['c1'] })
      const url = `/annotation_queues/${await createQueue(app)}/items`
      const add = (root: string) =>
        app.post(`${root}${url}`, { project_id, call_ids: ['c0', 'c1'], display_fields: [] })
      const refused = await add('')
      expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
        ...[404, 'call_not_found', 'call_ids[1]'],
      ])
      expect((await add('/traces')).body).toEqual({ added_count: 1, duplicates: 0 })
    })

    it('show calls that were deleted since as they were', async () => {
      const app = await build()
      const { url } = await fillQueue(app, 2)
      const list = async () => (await app.post(`${url}/query`, { project_id })).body.items
      const before = await list()
      await app.post('/calls/delete', { project_id, call_ids: ['c0'] })
      expect(await list()).toEqual(before)
    })

    it('are not found by the id of another queue', async () => {
      const app = await build()
      const { items } = await fillQueue(app, 1)
      const other = await createQueue(app)
      const url = `/annotation_queues/${other}/items/${items[0]}/progress`
      const body = { project_id, annotation_state: 'skipped' }
      expect(await errorOf(app.post(url, body))).toEqual([404, 'annotation_item_not_found'])
    })

    it.each([
      ['items', { call_ids: Array(1001).fill('c'), display_fields: [] }, 'call_ids'],
      ['items', { call_ids: [''], display_fields: [] }, 'call_ids[0]'],
      ['items', { call_ids: [], display_fields: Array(101).fill('a') }, 'display_fields'],
      ['items', { span_refs: [{ span_id: 's' }] }, 'span_refs[0].trace_id'],
      ['items/query', { limit: 10_001 }, 'limit'],
      ['items/query', { filter: { annotation_states: ['done'] } }, 'filter.annotation_states[0]'],
      ['items/query', { sort_by: [{ field: 'id', direction: 'asc' }] }, 'sort_by[0].field'],
      ['items/i/progress', { annotation_state: 'unstarted' }, 'annotation_state'],
    ])('answers validation_failed at %s for %.60j', async (path, fields, param) => {
      const { post } = await build()
      const { status, body } = await post(`/annotation_queues/q/${path}`, { project_id, ...fields })
      expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
    })
  })
})
