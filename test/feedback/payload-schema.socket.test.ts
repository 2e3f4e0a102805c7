import { describe, expect, it } from 'vitest'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'

describe('POST /feedback/payload_schema over a socket', () => {
  it('is answered by a reader thread while the client waits', async () => {
    const { app, key } = await buildTestApp({ dataDir: makeTempDir() })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const post = async (path: string, body: object) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: basic(key), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    }
    await post('/feedback/create', {
      project_id: 'acme/demo',
      weave_ref: 'weave:///acme/demo/object/answer:v1',
      feedback_type: 'rating',
      payload: { stars: 5 },
    })
    const request = { project_id: 'acme/demo', start: '2020-01-01T00:00:00Z' }
    await expect(post('/feedback/payload_schema', request)).resolves.toEqual({
      status: 200,
      body: { paths: [{ json_path: 'stars', value_type: 'numeric' }] },
    })
  })
})
