import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { basic } from '../../support/build-test-app.ts'
import { runUntilExit, spawnServer, TEST_KEY } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { MODEL } from '../../training/preview-fixtures.ts'
import {
  hasClickHouse,
  makeDatabase as makeCallsDatabase,
} from '../clickhouse/clickhouse-server.ts'
import { openServer } from '../clickhouse/describe-each-store.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const project_id = 'acme/demo'
const SENDERS = 8
/** Acknowledged feedback after which one of two servers is killed. */
const KILLED_AFTER = 60
const RECORDS = 200
/** What a client waits before it sends again what was not answered. */
const RETRY_MS = 1000

async function post({ url }: { readonly url: string }, path: string, body: unknown) {
  const authorization = path.startsWith('/v1') ? `Bearer ${TEST_KEY}` : basic(TEST_KEY)
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

function feedbackOf(at: number) {
  const weave_ref = `weave:///${project_id}/call/call-${at}`
  return { project_id, id: `feedback-${at}`, weave_ref, feedback_type: 't', payload: { at } }
}

describe.skipIf(!hasPostgres || !hasClickHouse)('two servers that share PostgreSQL', () => {
  it('two servers on PostgreSQL lose nothing acknowledged when one is killed, and store nothing twice', async () => {
    const url = await makeCallsDatabase()
    const metaUrl = await makeDatabase()
    const [killed, other] = await Promise.all([
      spawnServer({
        WEFT_STORE: 'clickhouse',
        WEFT_CLICKHOUSE_URL: url,
        WEFT_META_URL: metaUrl,
        WEFT_DATA_DIR: makeTempDir(),
      }),
      openServer({ clickhouse: { url, cluster: null }, metaUrl }),
    ])
    const path = '/traces/feedback/create'
    let [next, acknowledged] = [0, 0]
    const send = async (sender: number) => {
      for (let at = next++; at < RECORDS; at = next++) {
        const server = sender % 2 === 0 ? killed : other
        const answer = await post(server, path, feedbackOf(at)).catch(() => null)
        if (answer?.status !== 200) {
          await sleep(RETRY_MS)
          expect(await post(other, path, feedbackOf(at))).toMatchObject({ status: 200 })
        }
        acknowledged += 1
        if (acknowledged === KILLED_AFTER) killed.process.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)))
    const { text } = await post(other, '/feedback/query', { project_id, fields: ['id'] })
    const ids = JSON.parse(text).result.map(({ id }: { id: string }) => id)
    expect(new Set(ids)).toEqual(
      new Set(Array.from({ length: RECORDS }, (_, at) => `feedback-${at}`)),
    )
    expect(ids).toHaveLength(RECORDS)
    expect(await post(other, '/v1/preview/models', MODEL)).toMatchObject({ status: 200 })
  })
})

describe('a server whose PostgreSQL cannot be asked', () => {
  it.skipIf(!hasClickHouse)(
    'a server with an unreachable PostgreSQL exits with one line without the password',
    async () => {
      const { code, stderr } = await runUntilExit({
        WEFT_STORE: 'clickhouse',
        WEFT_DATA_DIR: makeTempDir(),
        WEFT_CLICKHOUSE_URL: await makeCallsDatabase(),
        WEFT_META_URL: 'postgres://me:secret@127.0.0.1:1/weft',
      })
      expect(code).toBe(1)
      expect(stderr).toMatch(/^weft: WEFT_META_URL: [^\n]*ECONNREFUSED[^\n]*\n$/)
      expect(stderr).not.toContain('secret')
    },
  )
})
