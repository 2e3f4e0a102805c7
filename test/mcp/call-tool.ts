/** Sends messages of the Model Context Protocol to an app. */
import { expect } from 'vitest'
import type { RequestOptions, TestApp } from '../support/build-test-app.ts'

export function rpc(app: TestApp, method: string, params: unknown, options?: RequestOptions) {
  return app.post('/mcp', { jsonrpc: '2.0', id: 1, method, params }, options)
}

/** Calls a tool; returns the value of its text, or the text itself when it fails. */
export async function callTool(
  app: TestApp,
  name: string,
  sent: object,
  options?: RequestOptions,
  // biome-ignore lint/suspicious/noExplicitAny: results of every shape.
): Promise<any> {
  const { status, body } = await rpc(app, 'tools/call', { name, arguments: sent }, options)
  expect(status).toBe(200)
  const [{ text }] = body.result.content
  return body.result.isError ? text : JSON.parse(text)
}
