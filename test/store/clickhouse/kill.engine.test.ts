import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { basic } from '../../support/build-test-app.ts'
import { runUntilExit, spawnServer, TEST_KEY } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'
import { openServer } from './describe-each-store.ts'

const project_id = 'acme/demo'
const started_at = '2026-01-01T10:00:00Z'
const SENDERS = 8
/** Acknowledged calls after which one of two servers is killed. */
const KILLED_AFTER = 60
const CALLS = 200
/** What a client waits before it sends again what was not answered. */
const RETRY_MS = 1000

async function post({ url }: { readonly url: string }, path: string, body: unknown) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: basic(TEST_KEY), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

function startOf(at: number) {
  const ids = { project_id, id: `call-${at}`, trace_id: `trace-${at}` }
  return { start: { ...ids, op_name: 'op', started_at, attributes: {}, inputs: { at } } }
}

describe.skipIf(!hasClickHouse)('two servers on one ClickHouse, one of which is killed', () => {
  it('two servers on one ClickHouse, one killed, lose nothing acknowledged and store nothing twice', async () => {
    const url = await makeDatabase()
    const [killed, other] = await Promise.all([
      spawnServer({
        WEFT_STORE: 'clickhouse',
        WEFT_CLICKHOUSE_URL: url,
        WEFT_DATA_DIR: makeTempDir(),
      }),
      openServer({ clickhouse: { url, cluster: null } }),
    ])
    let [next, acknowledged] = [0, 0]
    const send = async (sender: number) => {
      for (let at = next++; at < CALLS; at = next++) {
        const server = sender % 2 === 0 ? killed : other
        const answer = await post(server, '/call/start', startOf(at)).catch(() => null)
        if (answer?.status !== 200) {
          await sleep(RETRY_MS)
          expect(await post(other, '/call/start', startOf(at))).toMatchObject({ status: 200 })
        }
        acknowledged += 1
        if (acknowledged === KILLED_AFTER) killed.process.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)))
    const { text } = await post(other, '/calls/stream_query', { project_id, columns: ['id'] })
    const ids = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).id)
    expect(new Set(ids)).toEqual(new Set(Array.from({ length: CALLS }, (_, at) => `call-${at}`)))
    expect(ids).toHaveLength(CALLS)
    const counted = await post(other, '/calls/query_stats', { project_id })
    expect(JSON.parse(counted.text).count).toBe(CALLS)
  })
})

describe('a server whose ClickHouse cannot be asked', () => {
  it('a server with an unreachable ClickHouse exits with one line without the password', async () => {
    const { code, stderr } = await runUntilExit({
      WEFT_STORE: 'clickhouse',
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_CLICKHOUSE_URL: 'http://me:secret@127.0.0.1:1/weft',
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^weft: WEFT_CLICKHOUSE_URL: [^\n]*ECONNREFUSED[^\n]*\n$/)
    expect(stderr).not.toContain('secret')
  })
})
