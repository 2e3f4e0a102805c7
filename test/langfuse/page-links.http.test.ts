import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

describe('addresses that Langfuse’s SDKs print', () => {
  it.each([
    ['traces/0af7', 'traces/0af7'],
    ['traces/a%2F%2Fevil.example', 'traces/a%2F%2Fevil.example'],
    ['datasets/d/runs/run1', 'evaluations/run1'],
    ['experiments/results?baseline=run1', 'evaluations/run1'],
    ['experiments/results', 'evaluations'],
  ])('lead with %s to the page', async (path, target) => {
    const app = await buildTestApp()
    const { status, headers } = await app.get(`/project/acme/demo/${path}`, { key: null })
    expect({ status, to: headers.location }).toEqual({
      status: 302,
      to: `/acme/demo/weave/${target}`,
    })
  })

  it('do not lead to another server', async () => {
    const app = await buildTestApp()
    for (const path of ['/project/%2F%2Fevil.example/x/traces/t', '/project/%5Cevil/x/traces/t']) {
      const { headers } = await app.get(path, { key: null })
      expect(String(headers.location)).toMatch(/^\/[^/\\]/)
    }
  })
})
