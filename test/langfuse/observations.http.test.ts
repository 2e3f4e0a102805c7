import { describe, expect, it, vi } from 'vitest'
import { BASE, openLangfuse, project, type SentSpan, TRACE } from './langfuse-spans.ts'

const SHARED = {
  'langfuse.environment': 'staging',
  'langfuse.trace.tags': ['a', 'b'],
  'langfuse.trace.name': 'support',
  'langfuse.release': 'r1',
  'user.id': 'ada',
  'session.id': 'chat',
}
const ROOT: SentSpan = {
  id: '00000000000000a1',
  name: 'root',
  attributes: { ...SHARED, 'langfuse.observation.type': 'span', 'langfuse.version': 'v7' },
}
const MODEL: SentSpan = {
  id: '00000000000000a2',
  parent: ROOT.id,
  name: 'answer',
  at: 1,
  attributes: {
    ...SHARED,
    'langfuse.observation.type': 'generation',
    'langfuse.observation.model.name': 'm',
    'langfuse.observation.model.parameters': '{"temperature":0.5}',
    'langfuse.observation.input': '[{"role":"user","content":"q"}]',
    'langfuse.observation.output': 'done',
    'langfuse.observation.usage_details': '{"input":3,"output":4,"input_cached_tokens":1}',
    'langfuse.observation.cost_details': '{"input":0.25,"output":0.5}',
    'langfuse.observation.metadata.step': '"first"',
    'langfuse.observation.completion_start_time': '"2026-01-01T00:00:01.250Z"',
    'langfuse.observation.prompt.name': 'greet',
    'langfuse.observation.prompt.version': '2',
  },
}
const TOOL: SentSpan = {
  id: '00000000000000a3',
  parent: ROOT.id,
  name: 'search',
  at: 2,
  attributes: {
    'langfuse.observation.type': 'tool',
    'langfuse.observation.level': 'ERROR',
    'langfuse.observation.status_message': 'boom',
  },
}

async function openTraced() {
  const app = await openLangfuse()
  await app.sendSpans(ROOT, MODEL, TOOL)
  return {
    ...app,
    async list(query: Readonly<Record<string, string>> = {}) {
      const search = new URLSearchParams(query)
      return (await app.get(`${BASE}/v2/observations?${search}`, app.langfuse)).body
    },
  }
}

const GROUPS = 'core,basic,time,io,metadata,model,usage,prompt,metrics,trace_context'

describe('observations of Langfuse’s SDKs', () => {
  it('have what the span was sent with, in the groups of fields that are asked for', async () => {
    const app = await openTraced()
    const { data } = await app.list({ name: 'answer', fields: GROUPS })
    expect(data).toEqual([
      expect.objectContaining({
        id: MODEL.id,
        traceId: TRACE,
        projectId: project,
        parentObservationId: ROOT.id,
        type: 'GENERATION',
        isRootObservation: false,
        startTime: '2026-01-01T00:00:01.000000Z',
        endTime: '2026-01-01T00:00:02.000000Z',
        environment: 'staging',
        userId: 'ada',
        sessionId: 'chat',
        input: '[{"role":"user","content":"q"}]',
        output: 'done',
        metadata: { step: 'first' },
        model: 'm',
        modelParameters: { temperature: 0.5 },
        usageDetails: { input: 3, output: 4, input_cached_tokens: 1 },
        costDetails: { input: 0.25, output: 0.5 },
        totalCost: 0.75,
        promptName: 'greet',
        promptVersion: 2,
        latency: 1,
        timeToFirstToken: 0.25,
        tags: ['a', 'b'],
        traceName: 'support',
        release: 'r1',
      }),
    ])
    const [core] = (await app.list({ name: 'answer', fields: 'core' })).data
    expect(Object.keys(core)).toEqual([
      'id',
      'traceId',
      'startTime',
      'endTime',
      'projectId',
      'parentObservationId',
      'type',
      'modelId',
      'inputPrice',
      'outputPrice',
      'totalPrice',
    ])
  })

  it('have in each group of fields alone what they have in it among all, whose bodies only some read', async () => {
    const app = await openTraced()
    const values = { attributes: {}, inputs: { model: 'of-inputs', messages: [] } }
    const start = { project_id: project, op_name: 'chat', started_at: '2026-01-01T00:00:09Z' }
    expect((await app.post('/call/start', { start: { ...start, ...values } })).status).toBe(200)
    const { data } = await app.list({ fields: GROUPS })
    expect(data[0]).toMatchObject({ model: 'of-inputs' })
    const pages = vi.spyOn(app.deps.callsQuery, 'pages')
    const bodies: Record<string, string[]> = {}
    for (const group of GROUPS.split(',')) {
      expect(data).toMatchObject((await app.list({ fields: group })).data)
      const columns = [...(pages.mock.lastCall?.[1].columns ?? [])]
      bodies[group] = columns.filter((name) => name === 'inputs' || name === 'output')
    }
    expect(bodies).toEqual({
      ...Object.fromEntries(GROUPS.split(',').map((group) => [group, []])),
      io: ['inputs', 'output'],
      model: ['inputs'],
    })
  })

  it('are listed page by page, the newest first, each once though some began together', async () => {
    const app = await openLangfuse()
    const spans = Array.from({ length: 7 }, (_, at) => ({
      id: `00000000000000b${at}`,
      name: 'n',
      at: at === 6 ? 1 : 0,
    }))
    await app.sendSpans(...spans)
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body } = await app.get(`${BASE}/v2/observations?limit=2${query}`, app.langfuse)
      ids.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.meta.cursor
    } while (cursor !== null)
    expect(ids[0]).toBe('00000000000000b6')
    expect(ids.toSorted()).toEqual(spans.map(({ id }) => id))
  })

  it.each([
    [{ type: 'GENERATION' }, ['answer']],
    [{ type: 'SPAN' }, ['root']],
    [{ type: 'EVENT' }, []],
    [{ level: 'ERROR' }, ['search']],
    [{ level: 'DEFAULT' }, ['answer', 'root']],
    [{ isRootObservation: 'true' }, ['root']],
    [{ isRootObservation: 'false' }, ['search', 'answer']],
    [{ parentObservationId: '' }, ['root']],
    [{ parentObservationId: ROOT.id }, ['search', 'answer']],
    [{ environment: 'default' }, ['search']],
    [{ environment: 'staging,other' }, ['answer', 'root']],
    [{ userId: 'ada', sessionId: 'chat', traceId: TRACE, version: 'v7' }, ['root']],
    [{ fromStartTime: '2026-01-01T00:00:01Z', toStartTime: '2026-01-01T00:00:02Z' }, ['answer']],
  ])('are found by %j', async (query, names) => {
    const app = await openTraced()
    const { data } = await app.list(query as Record<string, string>)
    expect(data.map(({ name }: { name: string }) => name)).toEqual(names)
  })

  it.each([
    [{ column: 'sessionId', operator: '=', value: 'chat' }, ['answer', 'root']],
    [{ column: 'sessionId', operator: 'is null' }, ['search']],
    [{ column: 'name', operator: 'none of', value: ['root', 'answer'] }, ['search']],
    [{ column: 'tags', operator: 'all of', value: ['a', 'b'] }, ['answer', 'root']],
    [{ column: 'tags', operator: 'any of', value: ['c'] }, []],
    [{ column: 'traceName', operator: 'does not contain', value: 'supp' }, ['search']],
    [{ column: 'metadata', key: 'step', operator: '=', value: 'first' }, ['answer']],
    [{ column: 'startTime', operator: '>=', value: '2026-01-01T00:00:02Z' }, ['search']],
    [{ column: 'isRootObservation', operator: '<>', value: true }, ['search', 'answer']],
  ])('are found by the filter %j', async (filter, names) => {
    const app = await openTraced()
    const { data } = await app.list({ filter: JSON.stringify([{ type: 'any', ...filter }]) })
    expect(data.map(({ name }: { name: string }) => name)).toEqual(names)
  })

  it.each([
    ['filter', '[{', 'must be the JSON text of a list of conditions'],
    ['filter', '[{"column":"latency","operator":">","value":"1"}]', 'The column must be one of'],
    ['filter', '[{"column":"userId","operator":"~","value":"1"}]', 'The operator must be one of'],
    ['filter', '[{"column":"userId","operator":">","value":"1"}]', '> takes a date-time'],
    ['filter', '[{"column":"level","operator":"="}]', 'The value must be a text or texts'],
    ['fields', 'cores', 'There is no group of fields "cores"'],
    ['cursor', 'MTIz', 'cursor must be the meta.cursor of the page before'],
  ])('are refused by a wrong %s such as %s', async (name, value, message) => {
    const app = await openTraced()
    const { error } = await app.list({ [name]: value })
    expect(error.param).toMatch(new RegExp(`^${name}`))
    expect(error.message).toContain(message)
  })

  it('are values instead of texts on the older routes', async () => {
    const app = await openTraced()
    const { body } = await app.get(`${BASE}/observations?type=GENERATION`, app.langfuse)
    expect(body).toMatchObject({
      data: [
        {
          id: MODEL.id,
          input: [{ role: 'user', content: 'q' }],
          usage: { input: 3, output: 4, total: 7, unit: 'TOKENS' },
          calculatedTotalCost: 0.75,
        },
      ],
      meta: { page: 1, limit: 50, totalItems: 1, totalPages: 1 },
    })
    const one = await app.get(`${BASE}/observations/${TOOL.id}`, app.langfuse)
    expect(one.body).toMatchObject({ type: 'TOOL', level: 'ERROR', statusMessage: 'boom' })
    const none = await app.get(`${BASE}/observations/none`, app.langfuse)
    expect(none.status).toBe(404)
  })

  it('are calls of other clients, too, with their own fields', async () => {
    const app = await openLangfuse()
    const call = {
      project_id: project,
      op_name: `weave:///${project}/op/greet:v1`,
      started_at: '2026-01-01T00:00:00Z',
      attributes: { team: 'x' },
      inputs: { name: 'Ada' },
    }
    const { body } = await app.post('/call/start', { start: call })
    const usage = { 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } }
    const end = { project_id: project, id: body.id, ended_at: '2026-01-01T00:00:02Z' }
    await app.post('/call/end', {
      end: { ...end, output: ['hi'], exception: 'late', summary: { usage } },
    })
    const path = `${BASE}/v2/observations?name=greet&level=ERROR&fields=${GROUPS}`
    const { data } = (await app.get(path, app.langfuse)).body
    expect(data).toMatchObject([
      {
        id: body.id,
        name: 'greet',
        type: 'SPAN',
        statusMessage: 'late',
        input: '{"name":"Ada"}',
        output: '["hi"]',
        metadata: { team: 'x' },
        model: 'gpt-4o',
        usageDetails: { input: 1000, output: 100, total: 1100 },
        costDetails: { input: 0.0025, output: 0.001, total: 0.0035 },
        environment: 'default',
      },
    ])
  })
})
