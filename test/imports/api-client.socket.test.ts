import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApiClient } from '../../src/imports/api-client.ts'
import { serveApi } from './importing.ts'

/** A server whose errors repeat the headers of the request. */
async function serveEcho(): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(401).end(`refused ${JSON.stringify(request.headers)}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

describe('requests to the API of another tool', () => {
  it('follow no redirect, so that no key reaches another host', async () => {
    const other = await serveApi({ 'GET /moved': {} })
    const { url } = await serveApi({ 'GET /a': new URL(`${other.url}/moved?key=of-another`) })
    const refused = createApiClient(url, { 'x-api-key': 'ls-secret' }).get('/a')
    await expect(refused).rejects.toThrow(
      `GET ${url}/a responds with 302: it redirects to ${other.url}, which is not followed`,
    )
    expect(other.requests).toEqual([])
  })

  it.each([
    [{ 'x-api-key': 'ls-secret-key' }, 'ls-secret-key'],
    [{ authorization: 'Bearer px-secret-key' }, 'px-secret-key'],
    [{ authorization: `Basic ${btoa('user:pw-secret-key')}` }, btoa('user:pw-secret-key')],
  ])('keep the key of %j out of errors that repeat it', async (headers, key) => {
    const refused = createApiClient(await serveEcho(), headers).get('/a')
    await expect(refused).rejects.toThrow(/responds with 401: refused .*\[key\]/)
    await expect(refused).rejects.not.toThrow(key)
  })

  it('keep the password of a user out of errors that repeat it', async () => {
    const { url } = await serveApi({})
    const client = createApiClient(url, { authorization: `Basic ${btoa('user:pw-secret-key')}` })
    // An unknown request responds with its own address.
    const refused = client.get('/a', { text: 'pw-secret-key' })
    await expect(refused).rejects.toThrow(/404: .*text=\[key\]/)
  })

  it('are refused with a key that no header may have, without the key', () => {
    const open = () => createApiClient('http://127.0.0.1:1', { authorization: 'Bearer px\nsecret' })
    expect(open).toThrow('a key has characters that no header may have')
    expect(open).not.toThrow('secret')
  })

  it.each([
    ['ftp://user:pw-secret@localhost/x', 'an http or https address is needed'],
    ['/tmp/x', 'an http or https address is needed'],
    ['http://user:pw-secret@localhost', 'must not hold credentials'],
    ['http://localhost/api?key=pw-secret', 'must not hold credentials, a query'],
  ])('are refused to %s, without what it may hold', (location, message) => {
    const open = () => createApiClient(location, {})
    expect(open).toThrow(message)
    expect(open).not.toThrow('pw-secret')
  })
})
