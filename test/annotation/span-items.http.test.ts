/** Queues of spans: only what was received as a span, by its ids. */
import { expect, it } from 'vitest'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { createQueue, PROJECT, recordCalls } from './annotation-fixtures.ts'

const project_id = PROJECT
const TRACE = 'f'.repeat(32)
const refOf = (number: number, trace_id = TRACE) => ({ trace_id, span_id: spanId(number) })

/** Spans 1 and 2 of a trace, the call c0, and a queue of spans. */
async function fill(build: () => Promise<TestApp>, root: string) {
  const app = await build()
  const spans = [1, 2].map((n) => buildSpan({ ...refOf(n), name: `step ${n}` }))
  await app.post('/v1/traces', toJsonRequest(spans), { headers: { project_id } })
  await recordCalls(app, 1)
  const queue = await createQueue(app, { queue_type: 'span' })
  const url = `${root}/annotation_queues/${queue}/items`
  const add = (fields: object) => app.post(url, { project_id, ...fields })
  const list = async (fields: object = {}) =>
    (await app.post(`${url}/query`, { project_id, ...fields })).body.items
  return { app, queue, url, add, list }
}

describeEachStore('queues of spans', (build) => {
  it.each(['', '/traces'])('hold spans once, by their refs or ids, below %s/', async (root) => {
    const { add, list } = await fill(build, root)
    const added = await add({ span_refs: [refOf(1), refOf(2), refOf(1)] })
    expect([added.status, added.body]).toEqual([200, { added_count: 2, duplicates: 1 }])
    const again = await add({ call_ids: [spanId(2)], display_fields: ['inputs'] })
    expect(again.body).toEqual({ added_count: 0, duplicates: 1 })
    const items = await list({ include_position: true })
    expect(items).toMatchObject([
      {
        span_id: spanId(1),
        trace_id: TRACE,
        call_id: spanId(1),
        call_trace_id: TRACE,
        call_op_name: 'step 1',
        display_fields: [],
        annotation_state: 'unstarted',
        position_in_queue: 1,
      },
      { span_id: spanId(2), position_in_queue: 2 },
    ])
    const filter = { call_op_name: 'step 2', call_trace_id: TRACE }
    expect(await list({ filter })).toMatchObject([{ span_id: spanId(2) }])
  })

  it('have progress and statistics, and their judgement is feedback about the span', async () => {
    const { app, queue, url, add, list } = await fill(build, '')
    await add({ span_refs: [refOf(1), refOf(2)] })
    const [{ id }] = await list()
    for (const annotation_state of ['in_progress', 'completed']) {
      const { body } = await app.post(`${url}/${id}/progress`, { project_id, annotation_state })
      expect(body.item).toMatchObject({ ...refOf(1), annotation_state })
    }
    const stats = await app.post('/annotation_queues/stats', { project_id, queue_ids: [queue] })
    expect(stats.body.stats).toEqual([{ queue_id: queue, total_items: 2, completed_items: 1 }])
    const weave_ref = `weave:///${project_id}/agent_span/${spanId(1)}`
    const note = { project_id, weave_ref, feedback_type: 'note', payload: { note: 'good' } }
    const judged = await app.post('/traces/feedback/create', { ...note, queue_id: queue })
    expect(judged.status).toBe(200)
    const found = await app.post('/feedback/query', {
      project_id,
      fields: ['weave_ref', 'queue_id'],
    })
    expect(found.body.result).toEqual([{ weave_ref, queue_id: queue }])
  })

  it('hold no calls that were not received as spans, and no spans of other traces', async () => {
    const { add, list } = await fill(build, '')
    const cases: [object, string][] = [
      [{ call_ids: [spanId(1), 'c0'] }, 'call_ids[1]'],
      [{ span_refs: [refOf(1), refOf(2, 'e'.repeat(32))] }, 'span_refs[1]'],
      [{ span_refs: [{ trace_id: 't0', span_id: 'c0' }] }, 'span_refs[0]'],
    ]
    for (const [fields, param] of cases) {
      expect(await add(fields)).toMatchObject({
        status: 404,
        body: { error: { code: 'call_not_found', param } },
      })
    }
    expect(await list()).toEqual([])
    const lenient = await fill(build, '/traces')
    const skipped = await lenient.add({ span_refs: [refOf(1), { trace_id: 't0', span_id: 'c0' }] })
    expect(skipped.body).toEqual({ added_count: 1, duplicates: 0 })
  })

  it('need either refs or ids; queues of calls take no refs of spans', async () => {
    const { app, add } = await fill(build, '')
    const toCalls = (fields: object) => async () => {
      const url = `/annotation_queues/${await createQueue(app)}/items`
      return app.post(url, { project_id, ...fields })
    }
    const both = { call_ids: [], span_refs: [] }
    const cases: [() => Promise<{ status: number; body: object }>, string, string][] = [
      [() => add({}), 'call_ids', 'span_refs or call_ids is required.'],
      [() => add(both), 'span_refs', 'Use either call_ids or span_refs.'],
      [toCalls({}), 'call_ids', 'call_ids is required.'],
      [toCalls(both), 'span_refs', 'The queue holds calls: use call_ids.'],
    ]
    for (const [send, param, message] of cases) {
      expect(await send()).toMatchObject({ status: 422, body: { error: { param, message } } })
    }
  })
})
