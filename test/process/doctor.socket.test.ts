import { execFile } from 'node:child_process'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { INHERITED } from '../support/inherited.ts'
import { spawnServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const run = promisify(execFile)

/** What it prints about a data directory, and its exit code. */
async function examine(environment: Record<string, string>) {
  const ended = await run(process.execPath, ['src/weft.cjs', 'doctor'], {
    env: { ...INHERITED, WEFT_PORT: '0', ...environment },
  }).catch((error: { code: number; stdout: string }) => error)
  return { code: 'code' in ended ? ended.code : 0, text: ended.stdout }
}

function migrated(): Promise<string> {
  const dataDir = makeTempDir()
  const env = { ...INHERITED, WEFT_DATA_DIR: dataDir }
  return run(process.execPath, ['src/weft.cjs', 'migrate'], { env }).then(() => dataDir)
}

/** Listens on a port until the test ends. */
async function takePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((done) => server.once('listening', done))
  const address = server.address()
  return String(typeof address === 'object' && address?.port)
}

describe('weft doctor', () => {
  it('finds a fresh machine ready, and creates nothing', async () => {
    const dataDir = join(makeTempDir(), 'a', 'b')
    const { code, text } = await examine({ WEFT_DATA_DIR: dataDir })
    expect(text).toContain(`ok    data directory: ${dataDir} can be created`)
    expect(text).toContain('ok    database: there is none yet')
    expect(text).not.toMatch(/^fail/m)
    expect(code).toBe(0)
    expect(() => utimesSync(dataDir, 0, 0)).toThrow('ENOENT')
  })

  it('says beside a running server that it is running', async () => {
    const dataDir = makeTempDir()
    const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
    const port = new URL(server.url).port
    const { code, text } = await examine({ WEFT_DATA_DIR: dataDir, WEFT_PORT: port })
    expect(text).toContain(`the process ${server.process.pid} uses it`)
    expect(text).toContain(`127.0.0.1:${port} is taken, as a server is running`)
    expect(code).toBe(0)
    expect((await server.stop()).code).toBe(0)
  })

  it('names a port that another program has', async () => {
    const { code, text } = await examine({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_PORT: await takePort(),
    })
    expect(text).toMatch(/^fail {2}port: .* is taken by another program \(set WEFT_PORT\)$/m)
    expect(code).toBe(1)
  })

  it('names migrations that a start would run, and a database of another program', async () => {
    const dataDir = await migrated()
    const older = new Database(join(dataDir, 'weft.db'))
    older.exec('DELETE FROM migrations WHERE version > 30')
    older.close()
    const { text } = await examine({ WEFT_DATA_DIR: dataDir })
    expect(text).toMatch(/^ok {4}database: needs \d+ migrations/m)
    expect(text).toMatch(/^warn {2}database: make a backup first/m)

    const foreign = makeTempDir()
    const other = new Database(join(foreign, 'weft.db'))
    other.exec('CREATE TABLE birds (id)')
    other.close()
    const found = await examine({ WEFT_DATA_DIR: foreign })
    expect(found.text).toMatch(/^fail {2}database: .*is not one of Weft/m)
    expect(found.code).toBe(1)
  })

  it('names a clock that is behind the database', async () => {
    const dataDir = await migrated()
    const later = Date.now() / 1000 + 3600
    utimesSync(join(dataDir, 'weft.db'), later, later)
    expect((await examine({ WEFT_DATA_DIR: dataDir })).text).toMatch(
      /^fail {2}clock: .*set the clock/m,
    )
  })

  it('names a data directory that is a file', async () => {
    const path = join(makeTempDir(), 'file')
    writeFileSync(path, '')
    const { code, text } = await examine({ WEFT_DATA_DIR: path })
    expect(text).toContain(`fail  data directory: ${path} is not a directory (set WEFT_DATA_DIR)`)
    expect(code).toBe(1)
  })

  it('names servers of models and stores that are not reached, and no password', async () => {
    const dataDir = makeTempDir()
    mkdirSync(join(dataDir, 'files'))
    const open = await takePort()
    const models = ['1', open].map((port) => ({
      id: `model-${port}`,
      backend: 'openai',
      base_url: `http://127.0.0.1:${port}/v1`,
    }))
    const file = join(dataDir, 'served.json')
    writeFileSync(file, JSON.stringify({ models }))
    const { code, text } = await examine({
      WEFT_DATA_DIR: dataDir,
      WEFT_MODELS_FILE: file,
      WEFT_STORE: 'clickhouse',
      WEFT_CLICKHOUSE_URL: 'http://weft:hidden@127.0.0.1:2/weft',
    })
    expect(text).toMatch(/^fail {2}models: 127\.0\.0\.1:1 is not reached: ECONNREFUSED/m)
    expect(text).toContain(`ok    models: 127.0.0.1:${open} is reached`)
    expect(text).toMatch(/^fail {2}stores: 127\.0\.0\.1:2 is not reached/m)
    expect(text).not.toContain('hidden')
    expect(code).toBe(1)
  })

  it('names a fault of the settings and of the models file', async () => {
    expect(await examine({ WEFT_PORT: 'x' })).toMatchObject({ code: 1 })
    const file = join(makeTempDir(), 'models.json')
    writeFileSync(file, '{')
    const { text } = await examine({ WEFT_DATA_DIR: makeTempDir(), WEFT_MODELS_FILE: file })
    expect(text).toMatch(/^fail {2}models: .*models\.json: is not valid JSON/m)
  })
})
