/** Clients that disconnect before a streamed response begins. */
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { openDeps } from '../../src/deps.ts'
import { basic } from '../support/build-test-app.ts'
import { createRawClient } from '../support/raw-client.ts'

const KEY = 'wk_key_of_the_test_of_left_streams'
const TABLE = { project_id: 'acme/demo', digest: 'abc' }

it('a table whose reader leaves before its first row is no error of the server', async () => {
  const config = { ...readConfig({}), dataDir: ':memory:', bootstrapKey: KEY, drainTimeoutMs: 50 }
  const deps = await openDeps(config)
  // biome-ignore lint/suspicious/noExplicitAny: lines of every shape.
  const lines: any[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  let leave: () => void = () => undefined
  let closed: Promise<unknown> = Promise.resolve()
  const findTable = async () => {
    leave()
    await closed
    return { ...TABLE, table_key: 1, row_count: 0, storage_size_bytes: 0 }
  }
  const tables = { ...deps.tables, findTable } as typeof deps.tables
  const app = await buildApp(config, { ...deps, tables }, { level: 'info', stream })
  onTestFinished(async () => {
    await app.close()
    await deps.close()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  app.server.on('connection', (socket: Socket) => {
    closed = once(socket, 'close')
  })
  const client = createRawClient((app.server.address() as AddressInfo).port)
  leave = () => client.close()
  const body = JSON.stringify(TABLE)
  client.write(
    `POST /table/query HTTP/1.1\r\nhost: x\r\nauthorization: ${basic(KEY)}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const answered = () => lines.some(({ route }) => route === '/table/query')
  await expect.poll(answered, { timeout: 20_000 }).toBe(true)
  await app.close()
  expect(lines.filter(({ level }) => level >= 50)).toEqual([])
  const [line] = lines.filter(({ route }) => route === '/table/query')
  expect(line).toMatchObject({ status: 499, code: 'client_closed_request' })
})
