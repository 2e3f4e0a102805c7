import { expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

// gemini-cli 0.61.0 prints the partial success of metrics and logs in the terminal of its user.
it.each(['/v1/metrics', '/otel/v1/logs'])(
  'POST %s is discarded with plain success, in both encodings',
  async (url) => {
    const test = await buildTestApp()
    const { status, body } = await test.post(url, {})
    expect([status, Object.keys(body)]).toEqual([200, []])
    const protobuf = await test.app.inject({
      method: 'POST',
      url,
      headers: {
        authorization: `Bearer ${test.key}`,
        'content-type': 'application/x-protobuf',
      },
      payload: Buffer.alloc(0),
    })
    expect([protobuf.statusCode, protobuf.rawPayload.length]).toEqual([200, 0])
  },
)
