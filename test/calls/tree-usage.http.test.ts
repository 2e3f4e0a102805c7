import { expect, it } from 'vitest'
import { buildSpan, spanId, TRACE, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { end, list, PROJECT, start } from './query/stream-fixtures.ts'

const usage = (tokens: number) => ({
  summary: { usage: { 'gpt-4o': { requests: 1, prompt_tokens: tokens, total_tokens: tokens } } },
})

/** The root reports what its two children report together; one of these has a child of another model. */
async function fill(app: TestApp): Promise<void> {
  const at = { trace_id: 't' }
  await start(app, 'leaf', { ...at, parent_id: 'two' })
  await start(app, 'two', { ...at, parent_id: 'root' })
  await start(app, 'one', { ...at, parent_id: 'root' })
  await start(app, 'root', at)
  await end(app, 'leaf', { summary: { usage: { other: { requests: 1, total_tokens: 7 } } } })
  await end(app, 'one', usage(1000))
  await end(app, 'two', usage(2000))
  const total = { requests: 2, prompt_tokens: 3000, total_tokens: 3000 }
  await end(app, 'root', { summary: { usage: { 'gpt-4o': total } } })
}

describeEachStore('the usage of trees', (build) => {
  it('is that of a call with its descendants, each token once', async () => {
    const app = await build()
    await fill(app)
    const request = { project_id: PROJECT, id: 'root', include_tree_usage: true }
    const { weave } = (await app.post('/call/read', request)).body.call.summary
    expect(weave).toMatchObject({ tree_total_tokens: 3007, tree_total_cost: 0.0075 })
    expect(weave.tree_usage['gpt-4o']).toMatchObject({ requests: 2, prompt_tokens: 3000 })
    expect(weave.tree_usage.other).toMatchObject({ total_tokens: 7 })
  })

  it('is shown in lists of roots, also of those whose parent is not stored', async () => {
    const app = await build()
    await fill(app)
    await start(app, 'orphan', {
      trace_id: 'u',
      parent_id: 'never',
      started_at: '2026-01-03T00:00:00Z',
    })
    await start(app, 'below', { trace_id: 'u', parent_id: 'orphan' })
    await end(app, 'below', usage(5))
    const asked = {
      filter: { trace_roots_only: true },
      columns: ['id'],
      include_tree_usage: true,
    }
    const calls = await list(app, asked)
    expect(calls.map(({ id, summary }) => [id, summary.weave.tree_total_tokens])).toEqual([
      ['root', 3007],
      ['orphan', 5],
    ])
  })

  it('is that of the spans below a span', async () => {
    const app = await build()
    const chat = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 1000,
      'gen_ai.usage.output_tokens': 0,
    }
    const child = { parent_span_id: spanId(1), attributes: chat }
    const spans = [
      buildSpan({ ...child, span_id: spanId(2) }),
      buildSpan({ ...child, span_id: spanId(3) }),
      buildSpan({ span_id: spanId(1), attributes: {} }),
    ]
    await app.post('/v1/traces', toJsonRequest(spans), { headers: { project_id: PROJECT } })
    const asked = { filter: { trace_ids: [TRACE], trace_roots_only: true } }
    const [root] = await list(app, { ...asked, include_tree_usage: true })
    expect(root.summary.weave).toMatchObject({ tree_total_tokens: 2000, tree_total_cost: 0.005 })
  })

  it('counts the failed calls below, whose ancestors that ended well have the status descendant_error', async () => {
    const app = await build()
    const at = { trace_id: 'failing' }
    await start(app, 'top', at)
    await start(app, 'middle', { ...at, parent_id: 'top' })
    await start(app, 'failed', { ...at, parent_id: 'middle' })
    await start(app, 'also', { ...at, parent_id: 'top' })
    await start(app, 'well', { ...at, parent_id: 'failed' })
    for (const id of ['well', 'middle', 'top']) await end(app, id, {})
    for (const id of ['failed', 'also']) await end(app, id, { exception: 'refused' })
    const calls = await list(app, { filter: { trace_ids: ['failing'] }, include_tree_usage: true })
    const shown = calls.map(({ id, summary: { weave } }) => [
      id,
      [weave.status, weave.tree_error_count],
    ])
    expect(Object.fromEntries(shown)).toEqual({
      top: ['descendant_error', 2],
      middle: ['descendant_error', 1],
      failed: ['error', 0],
      also: ['error', 0],
      well: ['success', 0],
    })
  })

  it('is absent unless asked for', async () => {
    const app = await build()
    await fill(app)
    const [call] = await list(app, { filter: { call_ids: ['root'] } })
    expect(call.summary.weave).not.toHaveProperty('tree_usage')
  })
})
