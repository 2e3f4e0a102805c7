import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openTestStores } from './open-postgres.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const run = promisify(execFile)

describe.skipIf(!hasPostgres)('npm run keys', () => {
  it('npm run keys creates keys in PostgreSQL where servers share them', async () => {
    const WEFT_META_URL = await makeDatabase()
    const env = {
      PATH: process.env.PATH,
      WEFT_STORE: 'clickhouse',
      WEFT_META_URL,
      WEFT_CLICKHOUSE_URL: 'http://127.0.0.1:1/weft',
    }
    const { stdout } = await run(process.execPath, ['src/keys.ts', 'create', '--user', 'ada'], {
      env,
    })
    const [secret = ''] = /wk_[\w-]{43}/.exec(stdout) ?? []
    const { keys } = await openTestStores(WEFT_META_URL)
    expect(await keys.findPrincipal(secret)).toMatchObject({ svc_user_id: 'ada' })
  })
})
