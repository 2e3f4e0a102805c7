import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { STARTED } from '../calls/call-fixtures.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** More than the thread waits for, far less than SQLite moves by itself. */
const COMMITS = 80

describe('the log', () => {
  it('is moved into the database while the server runs, and calls stay readable', async () => {
    const dataDir = makeTempDir()
    const app = await buildTestApp({ dataDir })
    const databaseBytes = () => statSync(join(dataDir, 'weft.db')).size
    const before = databaseBytes()
    for (let n = 0; n < COMMITS; n++) {
      const start = { ...STARTED, id: `c${n}`, inputs: { text: 'x'.repeat(2000) } }
      expect((await app.post('/call/start', { start })).status).toBe(200)
    }
    const deadline = Date.now() + 15_000
    while (databaseBytes() === before && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(databaseBytes()).toBeGreaterThan(before + COMMITS * 2000)
    const { body } = await app.post('/call/read', { project_id: 'acme/demo', id: 'c0' })
    expect(body.call.inputs.text).toHaveLength(2000)
  })
})
