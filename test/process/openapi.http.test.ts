import { describe, expect, it } from 'vitest'
import { BODY_EXAMPLES } from '../../src/http/document/openapi-examples.ts'
import { buildTestApp } from '../support/build-test-app.ts'

type Json = Record<string, unknown>

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
    const { get } = await buildTestApp()
    const { body } = await get('/openapi.json')
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
      if (url === '/v1/preview/training-jobs') {
        const made = await post('/v1/preview/models', BODY_EXAMPLES['/v1/preview/models'])
        Object.assign(example, { model_id: made.body.id })
      }
      const answer = await post(url, example)
      expect([url, answer.status, answer.body.error]).toEqual([url, 200, undefined])
    }
  })

  it('describes the error body of every route', async () => {
    const { get } = await buildTestApp()
    const { body } = await get('/openapi.json')
    const responses = body.paths['/call/start'].post.responses
    for (const status of ['4XX', '5XX']) {
      expect(JSON.stringify(responses[status])).toContain('ErrorAnswer')
    }
  })

  it('describes every field', async () => {
    const { get } = await buildTestApp()
    const { body } = await get('/openapi.json')
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
