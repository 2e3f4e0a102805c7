import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SqliteError } from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { closeDatabase, openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { createMemoryFolder } from '../../src/store/sqlite/files/memory-folder.ts'
import { createStoreHealth } from '../../src/store/sqlite/health/store-health.ts'
import { STARTED } from '../calls/call-fixtures.ts'
import { postForm } from '../objects/object-fixtures.ts'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { createModel, JOBS_URL, jobOf } from '../training/preview-fixtures.ts'

const NOTHING = { files: 0, training_payloads: 0, artifacts: 0 }

/** The health of a store whose writes end with this error. */
function openHealth(write: () => Promise<unknown>) {
  const folder = createMemoryFolder('files')
  const health = createStoreHealth({ path: null, write, folder, missing: () => NOTHING })
  onTestFinished(() => health.close())
  return health
}

it('a start may take as long as the machine needs', async () => {
  const { app } = await buildTestApp()
  expect(app.initialConfig.pluginTimeout).toBe(0)
})

describe('/ready', () => {
  it('is ok while the store reads and writes, and reports no missing files', async () => {
    const { get } = await buildTestApp()
    const { status, body } = await get('/ready')
    expect([status, body]).toEqual([200, { status: 'ok', missing: NOTHING }])
  })

  it('is not ok while the database is truncated, and recovers by itself', async () => {
    const dataDir = makeTempDir()
    const { get, post } = await buildTestApp({ dataDir })
    const text = (n: number) =>
      Array.from({ length: 400 }, (_, at) => (at * n * 7919).toString(36)).join()
    for (let n = 0; n < 100; n++) {
      await post('/call/start', { start: { ...STARTED, id: `c${n}`, inputs: { text: text(n) } } })
    }
    const other = openDatabase(dataDir)
    closeDatabase(other)
    const path = join(dataDir, 'weft.db')
    const whole = readFileSync(path)
    expect((await get('/ready')).status).toBe(200)

    truncateSync(path, Math.floor(whole.length / 8192) * 4096)
    const answered = () => get('/ready').then(({ status, body }) => [status, body.error?.message])
    await expect
      .poll(answered)
      .toEqual([503, expect.stringContaining('reads fail: the database is damaged')])
    expect((await get('/health')).status).toBe(200)
    writeFileSync(path, whole)
    await expect.poll(answered).toEqual([200, undefined])
  })
})

describe('the health of a store', () => {
  it.each([
    ['database or disk is full: /data/weft.db', 'SQLITE_FULL'],
    ['disk I/O error', 'SQLITE_IOERR_SHMSIZE'],
  ])(
    'does not hide that every write fails on a full disk, and reports no path: %s',
    async (...failure) => {
      const cause = new SqliteError(...failure)
      const health = openHealth(() => Promise.reject(new ApiError('store_unavailable', { cause })))
      const { failing } = await health.checkStore()
      expect(failing).toEqual(['writes fail: the disk is full'])
    },
  )

  it('reports a write that hangs', async () => {
    const health = openHealth(() => new Promise(() => undefined))
    const { failing } = await health.checkStore()
    expect(failing).toEqual(['writes fail: the disk is too slow'])
  })

  it('does not treat a full queue as a failure', async () => {
    const health = openHealth(() => Promise.reject(new ApiError('server_overloaded')))
    expect((await health.checkStore()).failing).toEqual([])
  })

  it('writes once for many who ask at the same time', async () => {
    let writes = 0
    const health = openHealth(async () => {
      writes += 1
    })
    await Promise.all(Array.from({ length: 50 }, () => health.checkStore()))
    await health.checkStore()
    expect(writes).toBe(1)
  })
})

/** The only file below a folder of the data directory. */
function onlyFile(dataDir: string, folder: string): string {
  const found = readdirSync(join(dataDir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  expect(found).toHaveLength(1)
  return found[0] as string
}

describe('a file whose row is there and whose bytes are gone', () => {
  it('is logged at the start and restored when it is sent again', async () => {
    const dataDir = makeTempDir()
    const project_id = 'acme/demo'
    const file = Buffer.alloc(100_000, 'x')
    const first = await buildTestApp({ dataDir })
    const { body } = await postForm(first, '/file/create', { project_id, file })
    const { digest } = body
    await first.app.close()
    await first.deps.close()
    rmSync(onlyFile(dataDir, 'files'))

    const testApp = await buildTestApp({ dataDir })
    expect((await testApp.get('/ready')).body.missing).toEqual({ ...NOTHING, files: 1 })
    const read = () => testApp.post('/file/content', { project_id, digest })
    expect(await read()).toMatchObject({
      status: 404,
      body: {
        error: { code: 'file_not_found', message: expect.stringContaining('upload it again') },
      },
    })
    expect((await postForm(testApp, '/file/create', { project_id, file })).body).toEqual({ digest })
    expect((await read()).text).toBe(String(file))
  })

  it('is restored by the upload of the same media record of a trace', async () => {
    const dataDir = makeTempDir()
    const { app, key, get, post } = await buildTestApp({ dataDir })
    const asked = { key: null, headers: { authorization: basic(key, 'acme/demo') } }
    const file = Buffer.alloc(100_000, 'x')
    const sha256Hash = createHash('sha256').update(file).digest('base64')
    const type = { field: 'input', contentType: 'image/png' }
    const announcement = { ...type, contentLength: file.length, sha256Hash }
    const announce = async () => (await post('/api/public/media', announcement, asked)).body
    const pathOf = (url: string) => new URL(url).pathname
    const upload = async () => {
      const url = pathOf((await announce()).uploadUrl)
      expect((await app.inject({ method: 'PUT', url, payload: file })).statusCode).toBe(200)
    }
    await upload()
    rmSync(onlyFile(dataDir, 'files'))
    await upload()
    const { mediaId, uploadUrl } = await announce()
    expect(uploadUrl).toBeNull()
    const { url } = (await get(`/api/public/media/${mediaId}`, asked)).body
    expect((await app.inject({ url: pathOf(url) })).rawPayload).toEqual(file)
  })

  it('heals as the payload of a training job, too', async () => {
    const dataDir = makeTempDir()
    const testApp = await buildTestApp({ dataDir })
    const model_id = await createModel(testApp)
    const headers = { 'idempotency-key': 'same' }
    const send = () => testApp.post(JOBS_URL, jobOf(model_id), { headers })
    const { body } = await send()
    const path = onlyFile(dataDir, 'training-payloads')
    const content = readFileSync(path, 'utf8')
    rmSync(path)
    expect((await send()).body.id).toBe(body.id)
    expect(readFileSync(onlyFile(dataDir, 'training-payloads'), 'utf8')).toBe(content)
  })
})
