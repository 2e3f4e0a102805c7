/** The bad requests that every route must refuse, whatever it does. */
import { expect, it } from 'vitest'
import type { Scope } from '../../src/domain/access/permissions.ts'
import { authorizationFor, buildTestApp } from './build-test-app.ts'

interface RouteUnderTest {
  readonly url: string
  /** A body that the route takes, when nothing must exist before. */
  readonly body: Record<string, unknown>
  readonly scope: Scope
  /** The methods that its address takes. Default: POST. */
  readonly allow?: string
  /** Body limit that applies, in bytes; set small for the test. */
  readonly bodyBytesMax?: number
}

/** One test for each way in which a request fails before its fields are looked at. */
export function itRefusesBadRequests({ url, body, scope, allow = 'POST' }: RouteUnderTest): void {
  it('answers missing_api_key and a challenge without credentials', async () => {
    const { post } = await buildTestApp()
    const { status, body: answer, headers } = await post(url, body, { key: null })
    expect([status, answer.error.code]).toEqual([401, 'missing_api_key'])
    expect(headers['www-authenticate']).toMatch(url.startsWith('/v1') ? /^Bearer/ : /^Basic/)
  })

  it('answers invalid_api_key for a wrong key', async () => {
    const { post } = await buildTestApp()
    const { status, body: answer } = await post(url, body, { key: 'wk_wrong' })
    expect([status, answer.error.code]).toEqual([401, 'invalid_api_key'])
  })

  it('answers invalid_api_key for the other scheme', async () => {
    const { post, key } = await buildTestApp()
    const other = authorizationFor(url.startsWith('/v1') ? '/' : '/v1', key)
    const { status, body: answer } = await post(url, body, {
      key: null,
      headers: { authorization: other },
    })
    expect([status, answer.error.code]).toEqual([401, 'invalid_api_key'])
  })

  it('answers scope_missing for a key without the scope', async () => {
    const { post, createKey } = await buildTestApp()
    const scopes = (['traces:read', 'traces:write', 'inference', 'training'] as const).filter(
      (other) => other !== scope,
    )
    const { status, body: answer } = await post(url, body, { key: await createKey({ scopes }) })
    expect([status, answer.error.code]).toEqual([403, 'scope_missing'])
  })

  it('answers unsupported_media_type for another media type', async () => {
    const { post } = await buildTestApp()
    const { status, body: answer } = await post(url, 'a=1', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect([status, answer.error.code]).toEqual([415, 'unsupported_media_type'])
  })

  it.each(['{"a":', 'nope', '{"a":1}}', `${'['.repeat(600)}${']'.repeat(600)}`])(
    'answers invalid_json for %.20s',
    async (text) => {
      const { post } = await buildTestApp()
      const { status, body: answer } = await post(url, text)
      expect([status, answer.error.code]).toEqual([400, 'invalid_json'])
    },
  )

  it('answers method_not_allowed and the allowed methods for another one', async () => {
    const { app, key } = await buildTestApp()
    const headers = { authorization: authorizationFor(url, key) }
    const answer = await app.inject({ method: 'PATCH', url, headers })
    expect([answer.statusCode, answer.json().error.code]).toEqual([405, 'method_not_allowed'])
    expect(answer.headers.allow).toBe(allow)
  })
}
