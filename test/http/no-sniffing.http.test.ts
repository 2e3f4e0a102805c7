import { describe, expect, it } from 'vitest'
import { authorizationFor, buildTestApp } from '../support/build-test-app.ts'
import { listRoutes } from '../support/list-routes.ts'

describe('x-content-type-options', () => {
  it.each(['with', 'without'])(
    'x-content-type-options is nosniff on the response of every route %s a key',
    async (word) => {
      const { app, key } = await buildTestApp()
      const routes = listRoutes(app)
      const others: string[] = []
      for (const { method, url } of routes) {
        const { statusCode, headers } = await app.inject({
          method: method as 'GET',
          url,
          headers: word === 'with' ? { authorization: authorizationFor(url, key) } : {},
          ...(method === 'GET' || method === 'HEAD' ? {} : { payload: {} }),
        })
        const given = headers['x-content-type-options']
        if (given !== 'nosniff') others.push(`${method} ${url} ${statusCode} ${given}`)
      }
      expect(others).toEqual([])
      const names = routes.map(({ method, url }) => `${method} ${url}`)
      expect(names).toEqual(expect.arrayContaining(['GET /metrics', 'GET /openapi.json', 'GET /']))
      expect(names.length).toBeGreaterThan(300)
    },
  )

  it('x-content-type-options is nosniff on a stream', async () => {
    const { post } = await buildTestApp()
    const { status, headers } = await post('/calls/stream_query', { project_id: 'acme/demo' })
    expect([status, headers['content-type']]).toEqual([200, 'application/jsonl; charset=utf-8'])
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  it.each(['/none', '/%zz', '/acme/demo/weave/%', `/v1/keys/${'x'.repeat(600)}`])(
    'is nosniff with the request id where no route is found: %.24s',
    async (url) => {
      const { headers } = await (await buildTestApp()).app.inject({ url })
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )
})
