import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWebhooks, findAddressFault } from '../../src/outbound/webhooks.ts'
import { openReceiver } from './alert-fixtures.ts'

const PRIVATE = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://0/',
  'http://10.0.0.1:8080/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://100.64.0.1/',
  'http://[::1]/',
  'http://[::]/',
  'http://[fd00::1]/',
  'http://[fe80::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
]

describe('addresses that users name', () => {
  it.each(PRIVATE)('%s is refused, unless private networks are allowed', (url) => {
    expect(findAddressFault(url, [])).toMatch(/private network/)
    expect(findAddressFault(url, ['*'])).toBeNull()
  })

  it.each(['https://hooks.example.com/x?y', 'http://8.8.8.8/', 'https://[2606:4700::1111]/'])(
    '%s is called',
    (url) => {
      expect(findAddressFault(url, [])).toBeNull()
    },
  )

  it.each([
    ['file:///etc/passwd', /http or https/],
    ['ftp://example.com', /http or https/],
    ['example.com', /http or https/],
    ['https://user:pass@example.com/', /user or password/],
  ])('%s is never called', (url, fault) => {
    expect(findAddressFault(url, ['*'])).toMatch(fault)
  })
})

describe('a post to an address that a user names', () => {
  const post = (url: string, hosts: readonly string[] = ['*'], more: object = {}) => {
    const webhooks = createWebhooks(hosts)
    onTestFinished(webhooks.close)
    const { signal } = new AbortController()
    return webhooks.post({ url, body: '{"n":1}', timeoutMs: 2_000, signal, ...more })
  }

  it('is not sent to this machine by a name or an address', async () => {
    const { port, received } = await openReceiver()
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:7f00:1]']) {
      await expect(post(`http://${host}:${port}/`, [])).rejects.toThrow()
    }
    expect(received).toEqual([])
  })

  it('returns the status alone where that is enough, however long the rest takes', async () => {
    const receiver = await openReceiver()
    receiver.respond = (response) => void response.writeHead(202).write('never ends')
    expect(await post(receiver.url, ['*'], { isStatusEnough: true })).toEqual({
      status: 202,
      text: '',
    })
  })

  it.each([
    ['as it is sent', 1024 * 1024 + 1, (body: Buffer) => body, {}],
    ['as it is decoded', 64 * 1024 * 1024, gzipSync, { 'content-encoding': 'gzip' }],
  ])('takes no response of more than 1 MiB, %s', async (_, bytes, encode, headers) => {
    const receiver = await openReceiver()
    const body = encode(Buffer.alloc(bytes, ' '))
    receiver.respond = (response) => void response.writeHead(200, headers).end(body)
    // Of the text only the length: a failure would print all of it.
    await expect(post(receiver.url).then(({ text }) => text.length)).rejects.toThrow()
  })

  it('returns a response of 1 MiB', async () => {
    const receiver = await openReceiver()
    const body = 'é'.repeat(512 * 1024)
    receiver.respond = (response) => void response.writeHead(200).end(body)
    expect((await post(receiver.url)).text === body).toBe(true)
  })

  it('follows no redirect', async () => {
    const [target, receiver] = [await openReceiver(), await openReceiver()]
    receiver.respond = (response) => void response.writeHead(307, { location: target.url }).end()
    await expect(post(receiver.url)).rejects.toThrow()
    expect(target.received).toEqual([])
  })
})
