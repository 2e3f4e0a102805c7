import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BODY_EXAMPLES } from '../../src/http/document/openapi-examples.ts'
import { buildTestApp, type TestResponse } from '../support/build-test-app.ts'

type Json = Record<string, unknown>

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly security?: readonly Json[]
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly responses: Readonly<Record<string, { description: string; content?: Json }>>
}

let document: Promise<TestResponse> | null = null

/** The document, which is the same for all tests. */
function readDocument(): Promise<TestResponse> {
  document ??= buildTestApp().then(({ get }) => get('/openapi.json'))
  return document
}

function operationsOf(document: Json): Operation[] {
  return Object.values(document.paths as Json).flatMap((item) =>
    Object.values(item as Json),
  ) as Operation[]
}

/** Every property of the document that has no description, by its path. */
function undescribed(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null) return []
  const own = Object.entries((node as { properties?: Json }).properties ?? {})
    .filter(([, property]) => !isDescribed(property as Json))
    .map(([name]) => `${path}.${name}`)
  const below = Object.entries(node).flatMap(([key, value]) => undescribed(value, `${path}.${key}`))
  return [...own, ...below]
}

function isDescribed(property: Json): boolean {
  return Boolean(property.description) || '$ref' in property
}

describe('GET /openapi.json', () => {
  it('has a page that loads nothing from elsewhere and stands in no frame', async () => {
    const { app } = await buildTestApp()
    const { statusCode, headers } = await app.inject({ url: '/docs' })
    expect(statusCode).toBe(200)
    expect(headers['content-security-policy']).toMatch(/default-src 'self'.*frame-ancestors 'none'/)
  })

  it('is OpenAPI 3.1 and needs no credentials', async () => {
    const { get } = await buildTestApp()
    const { status, body } = await get('/openapi.json', { key: null })
    expect([status, body.openapi]).toEqual([200, '3.1.0'])
  })

  it.each([
    ['post', '/feedback/create', 'basic'],
    ['post', '/feedback/payload_schema', 'basic'],
    ['post', '/v1/chat/completions', 'bearer'],
    ['post', '/calls/stats', 'basic'],
    ['post', '/call/read', 'basic'],
    ['post', '/call/start', 'basic'],
    ['post', '/call/end', 'basic'],
    ['get', '/v1/models', 'bearer'],
    ['post', '/v1/preview/models', 'bearer'],
    ['post', '/v1/preview/training-jobs', 'bearer'],
    ['get', '/v1/preview/models/{model_id}/checkpoints', 'bearer'],
  ])('describes %s %s under the scheme of §5 %s', async (method, path, scheme) => {
    const { body } = await readDocument()
    const operation = body.paths[path]?.[method]
    expect(operation).toMatchObject({ security: [{ [scheme]: [] }], summary: expect.any(String) })
    expect(operation.responses['200'].content ?? operation.responses['200']).toBeTruthy()
    expect(body.components.securitySchemes[scheme]).toMatchObject({ type: 'http', scheme })
  })

  it('shows an example body for every route with one, and each example works', async () => {
    const { get, post } = await buildTestApp()
    const { body } = await get('/openapi.json')
    const withBody = Object.entries(body.paths as Json).filter(
      ([, item]) => (item as { post?: Json }).post?.requestBody,
    )
    for (const url of Object.keys(BODY_EXAMPLES)) {
      expect(withBody.map(([path]) => path)).toContain(url)
      const example = { ...BODY_EXAMPLES[url] }
      if (url.startsWith('/v1/preview/training-jobs')) {
        const made = await post('/v1/preview/models', BODY_EXAMPLES['/v1/preview/models'])
        Object.assign(example, { model_id: made.body.id })
      }
      const response = await post(url, example)
      expect([url, response.status, response.body?.error]).toEqual([url, 200, undefined])
    }
  })

  it('describes the error body of every route', async () => {
    const { body } = await readDocument()
    const responses = body.paths['/call/start'].post.responses
    for (const status of ['4XX', '5XX']) {
      expect(JSON.stringify(responses[status])).toContain('ErrorResponse')
    }
  })

  it('gives times in UTC the format of times', async () => {
    const { body } = await readDocument()
    const fields = Object.entries(body.components.schemas as Json).flatMap(([name, schema]) =>
      Object.entries((schema as { properties?: Json }).properties ?? {})
        .map(([field, value]) => ({ name: `${name}.${field}`, text: JSON.stringify(value) }))
        .filter(({ text }) => /, UTC[.;]/.test(text)),
    )
    expect(fields.length).toBeGreaterThan(10)
    const others = fields.filter(({ text }) => !text.includes('"format":"date-time"'))
    expect(others.map(({ name }) => name)).toEqual([])
  })

  it('has no dangling reference and no unused component', async () => {
    const { text, body } = await readDocument()
    const refs = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref)
    const known = Object.keys(body.components.schemas).map((name) => `#/components/schemas/${name}`)
    expect([...new Set(refs)].sort()).toEqual(known.sort())
    // Requests and responses share one definition.
    expect(known.filter((name) => name.endsWith('Input'))).toEqual([
      '#/components/schemas/CostCreateInput',
    ])
  })

  it('names every operation once, in a described group', async () => {
    const { body } = await readDocument()
    const operations = operationsOf(body)
    const names = operations.map(({ operationId }) => operationId)
    expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(String(name)))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    const tags = (body.tags as { name: string; description: string }[]).map(({ name }) => name)
    expect([...new Set(operations.flatMap((operation) => operation.tags))].sort()).toEqual(
      tags.sort(),
    )
    expect(body.servers).toEqual([{ url: '/', description: expect.any(String) }])
  })

  it('marks every operation that the interface does not have, by itself or by its group', async () => {
    const { body } = await readDocument()
    const page = readFileSync('docs/interface.md', 'utf8')
    const documented = [...page.matchAll(/^### 4\.\d+ `([A-Z]+) (\S+)`$/gm)].map(
      ([, method = '', path]) => `${method.toLowerCase()} ${path}`,
    )
    expect(documented).toHaveLength(9)
    const [, groups = ''] = /all of the groups (.*?), go beyond/.exec(body.info.description) ?? []
    const additions = groups.split(/, | and /)
    const unmarked = Object.entries(body.paths as Json).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Operation>)
        .filter(([, { tags }]) => !tags.some((tag) => additions.includes(tag)))
        .filter(([, { summary }]) => !summary.endsWith('(addition to the spec).'))
        .map(([method]) => `${method} ${path}`),
    )
    expect(unmarked.sort()).toEqual(documented.sort())
  })

  it('names every parameter of a path, the one with slashes too', async () => {
    const { body } = await readDocument()
    expect(body.paths['/v1/models/{model}'].get.parameters).toContainEqual(
      expect.objectContaining({ in: 'path', name: 'model', required: true }),
    )
    for (const [path, item] of Object.entries(body.paths as Json)) {
      const wanted = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name)
      for (const { parameters = [] } of Object.values(item as Record<string, Operation>)) {
        const named = parameters.filter((each) => each.in === 'path').map(({ name }) => name)
        expect([path, named]).toEqual([path, wanted])
      }
    }
  })

  it('has a success for every operation, and errors as JSON', async () => {
    const { body } = await readDocument()
    for (const { operationId, responses, security } of operationsOf(body)) {
      expect([operationId, Object.keys(responses)]).toEqual([
        operationId,
        expect.arrayContaining(['200', '4XX', '5XX']),
      ])
      // An exporter gets a response in its own encoding.
      const isExport = operationId === 'recordSpans' || operationId === 'recordLogs'
      const encodings = isExport ? ['application/x-protobuf'] : []
      for (const status of ['4XX', '5XX']) {
        expect([operationId, Object.keys(responses[status]?.content ?? {})]).toEqual([
          operationId,
          ['application/json', ...encodings],
        ])
      }
      expect([operationId, Array.isArray(security)]).toEqual([operationId, true])
      for (const { description } of Object.values(responses)) {
        expect(description).not.toBe('Default Response')
      }
    }
  })

  it.each([
    ['createChatCompletion', ['application/json', 'text/event-stream']],
    ['streamCalls', ['application/jsonl']],
    ['readFile', ['application/octet-stream']],
    ['downloadCheckpoint', ['application/octet-stream']],
    ['downloadParentArtifact', ['application/octet-stream']],
    ['downloadJobPayload', ['application/json']],
  ])('states the media types of %s', async (name, types) => {
    const { body } = await readDocument()
    const operation = operationsOf(body).find(({ operationId }) => operationId === name)
    expect(Object.keys(operation?.responses['200']?.content ?? {})).toEqual(types)
  })

  it('has no pattern that only JavaScript knows, and no keyword that generators refuse', async () => {
    const { text, body } = await readDocument()
    const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)]
    expect(patterns.length).toBeGreaterThan(10)
    for (const [, pattern = ''] of patterns) {
      const source: string = JSON.parse(pattern)
      expect(() => new RegExp(source)).not.toThrow()
      expect(source).not.toMatch(/\\[pP]\{|\(\?/)
    }
    expect(JSON.stringify(body.components)).not.toContain('"items":false')
    expect(text).not.toContain('$defs')
    expect(text).not.toMatch(/"format":"uuid","pattern"/)
  })

  it('takes the ids, refs and names that the server takes', async () => {
    const { body } = await readDocument()
    const { properties } = body.components.schemas.FeedbackCreateRequest
    const patternOf = (name: string): RegExp =>
      new RegExp((properties[name].pattern ?? properties[name].anyOf[0].pattern) as string)
    expect('acme/demo').toMatch(patternOf('project_id'))
    expect('Ünternehmen/mein projekt').toMatch(patternOf('project_id'))
    expect('acme').not.toMatch(patternOf('project_id'))
    expect('weave:///acme/demo/object/answer:v1/attr/x').toMatch(patternOf('weave_ref'))
    expect('weave:///acme/demo/op/answer:v1').not.toMatch(patternOf('weave_ref'))
    expect('weave:///acme/demo/call/0194b3c0').toMatch(patternOf('call_ref'))
    expect('日本語 1').toMatch(patternOf('id'))
    expect(' 1').not.toMatch(patternOf('id'))
  })

  it.each([
    ['post', '/v1/chat/completions', ['X-Weft-Cache', 'Cache-Control']],
    ['post', '/v1/messages', ['X-Weft-Cache', 'Cache-Control']],
    ['get', '/v1/models', []],
    ['get', '/v1/models/{model}', []],
  ])('has the headers of %s %s', async (method, path, more) => {
    const { body } = await readDocument()
    const { parameters } = body.paths[path][method] as Operation
    const headers = parameters?.filter((each) => each.in === 'header').map(({ name }) => name)
    expect(headers).toEqual(['Compat-Project', 'OpenAI-Project', ...more])
  })

  it('has the defaults, the formats and what is deprecated', async () => {
    const { body } = await readDocument()
    const { schemas } = body.components
    // A property with a default in the schema of a request is required in the types of generators.
    expect(schemas.CallReadRequest.properties.include_costs).toMatchObject({
      description: expect.stringMatching(/Default false\.$/),
    })
    expect(schemas.CallsQueryRequest.properties.include_feedback).not.toHaveProperty('default')
    expect(schemas.ChatCompletionRequest.properties.max_tokens).toMatchObject({ deprecated: true })
    expect(schemas.CheckpointResponse.properties.id).toMatchObject({ format: 'uuid' })
    expect(schemas.CallStatsRequest.properties.timezone).toMatchObject({
      description: expect.stringMatching(/Default `?"?UTC/),
      maxLength: 64,
      pattern: expect.any(String),
    })
    const batch =
      body.paths['/call/upsert_batch'].post.requestBody.content['application/json'].schema
    expect(batch.properties.batch).toMatchObject({
      maxItems: 10_000,
      items: { $ref: '#/components/schemas/CallBatchItem' },
    })
  })

  it('describes every field', async () => {
    const { body } = await readDocument()
    expect(undescribed(body.paths, 'paths')).toEqual([])
    expect(undescribed(body.components, 'components')).toEqual([])
  })
})

describe('GET /docs', () => {
  it('is a page whose parts all come from this server', async () => {
    const { app, get } = await buildTestApp()
    const page = await app.inject({ url: '/docs/' })
    expect([page.statusCode, page.headers['content-type']]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ])
    const parts = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part ?? '')
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) {
      expect(part).not.toMatch(/^(?:https?:)?\/\//)
      expect((await get(new URL(part, 'http://x/docs/').pathname)).status).toBe(200)
    }
  })
})
