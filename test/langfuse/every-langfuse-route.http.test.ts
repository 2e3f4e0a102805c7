import { describe, expect, it } from 'vitest'
import { basic } from '../support/build-test-app.ts'
import { BASE, openLangfuse, project } from './langfuse-spans.ts'

const MEDIA = {
  field: 'input',
  contentType: 'image/png',
  contentLength: 1,
  sha256Hash: `${'x'.repeat(43)}=`,
}
const METRICS = JSON.stringify({
  view: 'observations',
  metrics: [{ measure: 'count', aggregation: 'count' }],
  fromTimestamp: '2026-01-01T00:00:00Z',
  toTimestamp: '2026-01-02T00:00:00Z',
})
const REPORT = { uploadedAt: '2026-01-31T09:00:00Z', uploadHttpStatus: 200 }

describe('every route of Langfuse’s API', () => {
  it.each<[method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object]>([
    ['GET', '/projects'],
    ['POST', '/scores', { traceId: 't', name: 'n', value: 1 }],
    ['POST', '/ingestion', { batch: [] }],
    ['GET', '/v2/scores'],
    ['GET', '/v3/scores'],
    ['GET', '/v2/scores/x'],
    ['DELETE', '/scores/x'],
    ['POST', '/v2/prompts', { name: 'n', prompt: 'p' }],
    ['GET', '/v2/prompts'],
    ['GET', '/v2/prompts/x'],
    ['PATCH', '/v2/prompts/x/versions/1', { newLabels: [] }],
    ['DELETE', '/v2/prompts/x'],
    ['POST', '/v2/datasets', { name: 'n' }],
    ['GET', '/v2/datasets'],
    ['GET', '/v2/datasets/x'],
    ['POST', '/dataset-items', { datasetName: 'x' }],
    ['GET', '/dataset-items?datasetName=x'],
    ['GET', '/dataset-items/x'],
    ['DELETE', '/dataset-items/x'],
    ['POST', '/dataset-run-items', { runName: 'r', datasetItemId: 'i' }],
    ['GET', '/dataset-run-items?datasetId=d&runName=r'],
    ['GET', '/datasets/x/runs'],
    ['GET', '/datasets/x/runs/r'],
    ['DELETE', '/datasets/x/runs/r'],
    ['GET', '/v2/observations'],
    ['GET', '/observations'],
    ['GET', '/observations/x'],
    ['GET', '/traces'],
    ['GET', '/traces/x'],
    ['DELETE', '/traces/x'],
    ['DELETE', '/traces', { traceIds: ['x'] }],
    ['GET', `/v2/metrics?query=${encodeURIComponent(METRICS)}`],
    ['POST', '/media', MEDIA],
    ['PATCH', `/media/${'x'.repeat(22)}`, REPORT],
    ['GET', `/media/${'x'.repeat(22)}`],
    ['GET', '/sessions'],
    ['GET', '/sessions/x'],
  ] as const)(
    '%s %s refuses who has no key, no scope or another project',
    async (method, path, body) => {
      const { app, createKey } = await openLangfuse()
      const send = async (authorization: string | null) =>
        app.inject({
          method,
          url: BASE + path,
          headers: authorization === null ? {} : { authorization },
          ...(body === undefined ? {} : { payload: body }),
        })
      const scopes = [method === 'GET' ? 'traces:write' : 'traces:read'] as const
      const codes = []
      for (const authorization of [
        null,
        basic(await createKey({ scopes }), project),
        basic(await createKey({ projects: ['other/project'] }), project),
      ]) {
        codes.push((await send(authorization)).json().error.code)
      }
      expect(codes).toEqual(['missing_api_key', 'scope_missing', 'project_forbidden'])
    },
  )

  it.each([
    ['POST', '/v2/prompts', { name: 'p', prompt: 'p' }],
    ['PATCH', '/v2/prompts/p/versions/1', { newLabels: [] }],
    ['POST', '/v2/datasets', { name: 'd' }],
    ['POST', '/dataset-items', { datasetName: 'd', id: 'i' }],
  ] as const)('%s %s responds with what is stored only to who may read it', async (...route) => {
    const { app, createKey } = await openLangfuse()
    const [method, path, payload] = route
    const key = await createKey({ projects: [project], scopes: ['traces:write'] })
    const headers = { authorization: basic(key, project) }
    const { body } = await app.inject({ method, url: BASE + path, headers, payload })
    expect(JSON.parse(body).message).toContain('lacks the scope traces:read')
  })

  it('that is missing is a 404, which the SDKs do not repeat', async () => {
    const { get, langfuse } = await openLangfuse()
    const { status, body } = await get(`${BASE}/comments`, langfuse)
    expect({ status, code: body.error.code }).toEqual({ status: 404, code: 'unknown_url' })
    expect(body.message).toContain('docs/langfuse.md')
  })
})
