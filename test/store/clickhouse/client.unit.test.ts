import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'

const QUORUM = 'clickhouse_setting_insert_quorum=auto'

/** Listens as ClickHouse would and keeps the addresses that it is asked with. */
async function listen({ body = '', headers = {} } = {}) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(200, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/weft` }
}

describe('the address of ClickHouse', () => {
  it.each([
    ['nope=1', 'nope'],
    ['database=x', 'database'],
    ['request_timeout=abc', 'request_timeout'],
    ['a%0Ab=1', 'a b'],
  ])(
    'is refused with ?%s in one line that names the parameter, not the password',
    (query, name) => {
      const connect = () =>
        connectClickHouse({ url: `http://me:secret@a:8123/weft?${query}`, readTimeoutMs: 1000 })
      expect(connect).toThrow(
        expect.objectContaining({
          name: 'MigrationError',
          message: expect.stringMatching(
            new RegExp(`^WEFT_CLICKHOUSE_URL: (?!.*secret)[^\\n]*${name}[^\\n]*$`),
          ),
        }),
      )
    },
  )

  it('is not repeated when its password has a question mark', () => {
    const connect = () =>
      connectClickHouse({ url: 'http://me:12?secret@a:8123/weft', readTimeoutMs: 1000 })
    expect(connect).toThrow(/^WEFT_CLICKHOUSE_URL: the address cannot be understood$/)
  })

  it('may have settings, which cause no warning and are not those of another address', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    const { asked, url } = await listen()
    for (const address of [`${url}?${QUORUM}&clickhouse_setting_join_use_nulls=0`, url]) {
      const db = connectClickHouse({ url: address, readTimeoutMs: 1000 })
      await db.command('SELECT 1')
      await db.close()
    }
    expect(asked.map((address) => address.includes('insert_quorum=auto'))).toEqual([true, false])
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('a statement that breaks while its rows are sent', () => {
  const ROW = '{"id":"1"}\n'
  const TEXT = 'Code: 241. DB::Exception: memory: while reading secret. (MEMORY_LIMIT_EXCEEDED)\n'
  const TAG = 'abcdefghijklmnop'
  const MARKED = `\r\n__exception__\r\n${TAG}\n${TEXT}${TEXT.length} ${TAG}\r\n__exception__\r\n`

  it.each([
    ['with a mark', ROW + MARKED, { 'x-clickhouse-exception-tag': TAG }],
    ['without one', ROW + TEXT, {}],
    ['in the middle of a row', `${ROW}{"id":"secret${TEXT}`, {}],
  ])('%s is an error that repeats nothing of it', async (_name, body, headers) => {
    const { url } = await listen({ body, headers })
    const db = connectClickHouse({ url, readTimeoutMs: 1000 })
    const rows = db.stream('SELECT 1', {}, { signal: new AbortController().signal })
    for (const failed of [db.read('SELECT 1', {}), Array.fromAsync(rows)]) {
      const error = await failed.then(
        () => null,
        (thrown: Error) => thrown,
      )
      expect(error).toMatchObject({ code: 'store_unavailable' })
      expect(inspect(error)).not.toMatch(/secret|Code: 241/)
    }
    await db.close()
  })
})
