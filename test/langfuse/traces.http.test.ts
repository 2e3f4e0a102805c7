import { describe, expect, it, vi } from 'vitest'
import { BASE, openLangfuse, project, TRACE } from './langfuse-spans.ts'

const OTHER = '1'.repeat(32)
const BY_ID = `[{"column":"id","operator":"=","value":"${OTHER}"}]`
const SESSION = { 'session.id': 'chat', 'user.id': 'ada' }

async function openTraces() {
  const app = await openLangfuse()
  await app.sendSpans(
    {
      id: '00000000000000a1',
      name: 'root',
      attributes: {
        'langfuse.observation.input': '{"q":1}',
        'langfuse.observation.metadata.own': '"o"',
        'langfuse.trace.metadata.shared': '"s"',
        'langfuse.trace.tags': ['a'],
        'langfuse.trace.name': 'support',
      },
    },
    {
      id: '00000000000000a2',
      parent: '00000000000000a1',
      name: 'step',
      at: 3,
      attributes: { ...SESSION, 'langfuse.observation.cost_details': '{"total":0.5}' },
    },
    { id: '00000000000000b1', trace: OTHER, name: 'other', at: 9, attributes: SESSION },
  )
  const score = { id: 's1', traceId: TRACE, name: 'good', value: 1 }
  await app.post(`${BASE}/scores`, score, app.langfuse)
  const read = async (path: string) => (await app.get(`${BASE}/${path}`, app.langfuse)).body
  return { ...app, read }
}

describe('traces of Langfuse’s SDKs', () => {
  it('are listed by their roots, with the ids of what belongs to them', async () => {
    const { read } = await openTraces()
    const { data, meta } = await read('traces')
    expect(data).toMatchObject([
      { id: OTHER, name: 'other', sessionId: 'chat', userId: 'ada', latency: 1, totalCost: 0 },
      {
        id: TRACE,
        name: 'support',
        timestamp: '2026-01-01T00:00:00.000000Z',
        input: { q: 1 },
        metadata: { own: 'o', shared: 's' },
        tags: ['a'],
        public: false,
        environment: 'default',
        htmlPath: `/project/${project}/traces/${TRACE}`,
        latency: 4,
        totalCost: 0.5,
        observations: ['00000000000000a1', '00000000000000a2'],
        scores: ['s1'],
      },
    ])
    expect(meta).toEqual({ page: 1, limit: 50, totalItems: 2, totalPages: 1 })
  })

  it.each([
    ['name=support', [TRACE]],
    ['name=root', []],
    ['tags=a', [TRACE]],
    ['tags=a,b', []],
    ['userId=ada', [OTHER]],
    ['toTimestamp=2026-01-01T00:00:05Z', [TRACE]],
    ['orderBy=timestamp.asc', [TRACE, OTHER]],
    ['limit=1&page=2', [TRACE]],
    [`filter=${encodeURIComponent(BY_ID)}`, [OTHER]],
  ])('are found by %s', async (query, ids) => {
    const { read } = await openTraces()
    const { data } = await read(`traces?${query}`)
    expect(data.map(({ id }: { id: string }) => id)).toEqual(ids)
  })

  it('are listed once where they have several roots, with the oldest of them', async () => {
    const { read, ...app } = await openTraces()
    await app.sendSpans({ id: '00000000000000a8', name: 'again', at: 20, attributes: SESSION })
    const pages = ['traces?limit=1&page=1', 'traces?limit=1&page=2', 'traces?limit=1&page=3']
    const listed = []
    for (const page of pages) {
      const { data, meta } = await read(page)
      expect(meta).toMatchObject({ totalPages: 3 })
      listed.push(...data.map(({ name }: { name: string }) => name))
    }
    expect(listed).toEqual(['other', 'support'])
    expect((await read('traces?userId=ada')).data).toMatchObject([{ id: TRACE }, { id: OTHER }])
    const { traces } = await read('sessions/chat')
    expect(traces).toMatchObject([{ name: 'support' }, { name: 'other' }])
  })

  it('leave out the groups of fields that are not asked for', async () => {
    const { read } = await openTraces()
    const { data } = await read('traces?fields=core&name=support')
    const empty = { input: null, observations: [], scores: [], latency: -1, totalCost: -1 }
    expect(data).toMatchObject([empty])
    const wrong = await read('traces?fields=all')
    expect(wrong.error).toMatchObject({ code: 'unsupported_value', param: 'fields' })
    const order = await read('traces?orderBy=public.asc')
    expect(order.error).toMatchObject({ code: 'unsupported_value', param: 'orderBy' })
  })

  it('are read whole, with observations and scores', async () => {
    const { read } = await openTraces()
    expect(await read(`traces/${TRACE}`)).toMatchObject({
      id: TRACE,
      latency: 4,
      observations: [
        { id: '00000000000000a1', name: 'root', input: { q: 1 } },
        { id: '00000000000000a2', name: 'step', calculatedTotalCost: 0.5 },
      ],
      scores: [{ id: 's1', value: 1 }],
    })
    expect((await read('traces/none')).error.code).toBe('trace_not_found')
  })

  it('are deleted with calls whose parent is of another trace, and with tags', async () => {
    const { read, ...app } = await openTraces()
    const id = '00000000000000b2'
    await app.sendSpans({ id, trace: OTHER, parent: '00000000000000a2', name: 'below', at: 4 })
    const tagged = { project_id: project, call_ids: ['00000000000000b1', id], add: ['checked'] }
    expect((await app.post('/calls/tag', tagged)).body).toMatchObject({ added_count: 2 })
    const { status } = await app.delete(`${BASE}/traces/${OTHER}`, app.langfuse)
    expect(status).toBe(200)
    const left = (await read('v2/observations')).data.map(({ id: one }: { id: string }) => one)
    expect(left).toEqual(['00000000000000a2', '00000000000000a1'])
    const query = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'weft.tag' }] } }
    const tags = await app.post('/feedback/query', { project_id: project, query })
    expect(tags.body).toEqual({ result: [] })
  })

  it('are deleted with the calls that they have then, while others arrive', async () => {
    const { read, ...app } = await openTraces()
    const { calls } = app.deps
    const deleteCalls = calls.deleteCalls.bind(calls)
    let arrived = 0
    vi.spyOn(calls, 'deleteCalls').mockImplementation(async (deletion) => {
      arrived += 1
      if (arrived < 9) await app.sendSpans({ id: `00000000000000c${arrived}`, name: 'late' })
      return deleteCalls(deletion)
    })
    expect((await app.delete(`${BASE}/traces/${TRACE}`, app.langfuse)).status).toBe(200)
    expect((await read(`traces/${TRACE}`)).observations).toMatchObject([{ name: 'late' }])
  })

  it('are deleted one or many, and the deletion is in the audit list', async () => {
    const { read, ...app } = await openTraces()
    const one = await app.delete(`${BASE}/traces/${TRACE}`, app.langfuse)
    expect(one.status).toBe(200)
    expect((await read('v2/observations')).data).toMatchObject([{ id: '00000000000000b1' }])
    const many = await app.delete(`${BASE}/traces`, {
      ...app.langfuse,
      body: { traceIds: [OTHER] },
    })
    expect(many.status).toBe(200)
    expect((await read('traces')).data).toEqual([])
    const { body } = await app.get('/v1/audit')
    const deleted = body.data.slice(0, 2).map(({ before }: { before: unknown }) => before)
    expect(deleted).toEqual([{ trace_ids: [OTHER] }, { trace_ids: [TRACE] }])
    const reader = await app.createKey({ scopes: ['traces:read'], projects: [project] })
    const refused = await app.delete(`${BASE}/traces/${TRACE}`, { key: reader })
    expect(refused.status).toBe(403)
  })
})

describe('sessions of Langfuse’s SDKs', () => {
  it('begin with their first call, and have the traces of all of their calls', async () => {
    const { read } = await openTraces()
    const { data, meta } = await read('sessions')
    const createdAt = '2026-01-01T00:00:03.000000Z'
    expect(data).toEqual([{ id: 'chat', createdAt, projectId: project, environment: 'default' }])
    expect(meta.totalItems).toBe(1)
    expect((await read('sessions?fromTimestamp=2026-01-02T00:00:00Z')).data).toEqual([])
    const { traces, ...session } = await read('sessions/chat')
    expect(session).toMatchObject({ id: 'chat', projectId: project })
    expect(traces).toMatchObject([{ id: TRACE, name: 'support' }, { id: OTHER }])
    expect((await read('sessions/none')).error).toMatchObject({ param: 'sessionId' })
  })
})
