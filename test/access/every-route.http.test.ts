/** Asks all routes of the document without a key, and with a key of another project: each must refuse. */
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { fillRequest, outcomeOf, readDocument, send } from './documented-routes.ts'

describe('every route', () => {
  it('but those for probes, versions and tickets refuses who has no key', async () => {
    const app = await buildTestApp()
    const { routes } = await readDocument(app)
    const open: Record<string, string> = {}
    for (const route of routes) {
      const outcome = outcomeOf(await send(app, route, { key: null, body: {} }))
      const isRefused = outcome === 'missing_api_key' || outcome === '401'
      if (!isRefused) open[route.name] = outcome
    }
    expect(routes.length).toBeGreaterThan(100)
    expect(open).toEqual({
      'GET /health': '200',
      'GET /auth/session': '200',
      'GET /ready': '200',
      'GET /version': '200',
      'GET /calls/exports/{token}': 'export_not_found',
    })
  })

  it('of the trace API refuses a key of another project', async () => {
    const app = await buildTestApp()
    const { routes, fill } = await readDocument(app)
    const key = await app.createKey({ projects: ['other/project'] })
    const others: Record<string, string> = {}
    for (const route of routes) {
      const { path, operation } = route
      const isPublic = operation.security?.length === 0
      if (isPublic || /^\/v1(?:beta)?\//.test(path) || path.endsWith('tokenize')) continue
      const asked = { key, ...fillRequest(route, fill) }
      const outcome = outcomeOf(await send(app, route, asked))
      if (outcome !== 'project_forbidden') others[route.name] = outcome
    }
    expect(others).toEqual({
      // Its answer has nothing of a project.
      'GET /metrics': '200',
      // Its tools name the project, and have tests of their own.
      'POST /mcp': '202',
      // Their answers cover only the projects of the key.
      'GET /me': '200',
      'POST /graphql': '200',
      'POST /service/projects_info': '200',
      'POST /refs/read_batch': 'object_not_found',
      // Forms, which have tests of their own.
      'POST /file/create': 'unsupported_media_type',
      'POST /files/create': 'unsupported_media_type',
    })
  })
})
