import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { INHERITED } from '../support/inherited.ts'
import { runUntilExit, spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const run = promisify(execFile)

/** Every file below a directory with its size and time. */
function listFiles(dataDir: string): string[] {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const { size, mtimeMs } = statSync(join(entry.parentPath, entry.name))
      return `${entry.parentPath}/${entry.name} ${size} ${mtimeMs}`
    })
    .sort()
}

/** A server in this process: it holds the directory as one of its own does, and starts at a tenth of the cost. */
async function openServer(dataDir: string) {
  const { app, deps } = await buildTestApp({ dataDir, bootstrapKey: TEST_KEY })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const stop = async () => {
    await app.close()
    await deps.close()
  }
  return { url, stop }
}

function upload(url: string, content: string): Promise<Response> {
  const form = new FormData()
  form.set('project_id', 'acme/demo')
  form.set('file', new Blob([content]), 'file')
  const headers = { authorization: basic(TEST_KEY) }
  return fetch(`${url}/file/create`, { method: 'POST', headers, body: form })
}

describe('a second start on the data directory of a running server', () => {
  it('ends with one line that names the directory and the process, and touches nothing', async () => {
    const dataDir = makeTempDir()
    const server = await openServer(dataDir)
    expect((await upload(server.url, 'x'.repeat(100_000))).status).toBe(200)
    // What an upload or a training body that is under way looks like: no row knows of it yet.
    writeFileSync(join(dataDir, 'files', 'received', 'under-way'), 'x')
    writeFileSync(join(dataDir, 'training-payloads', 'received', 'under-way'), 'x')
    mkdirSync(join(dataDir, 'training-bodies'))
    writeFileSync(join(dataDir, 'training-bodies', 'under-way'), 'x')
    const before = listFiles(dataDir)
    const { code, stderr, stdout } = await runUntilExit({
      WEFT_DATA_DIR: dataDir,
      WEFT_LOG_LEVEL: 'warn',
    })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      `weft: the data directory ${dataDir} is in use by the process ${process.pid}\n`,
    )
    expect(listFiles(dataDir)).toEqual(before)
  })

  it('is taken as soon as the first one was killed', async () => {
    const dataDir = makeTempDir()
    const first = await spawnServer({ WEFT_DATA_DIR: dataDir })
    await first.stop('SIGKILL')
    const second = await spawnServer({ WEFT_DATA_DIR: dataDir })
    expect((await fetch(`${second.url}/ready`)).status).toBe(200)
    expect(await second.stop()).toEqual({ code: 0, signal: null })
    expect(readdirSync(dataDir)).not.toContain('weft.pid')
  })

  it('is refused to `npm run migrate`, too, in one line', async () => {
    const dataDir = makeTempDir()
    const server = await openServer(dataDir)
    const env = { ...INHERITED, WEFT_DATA_DIR: dataDir }
    const migrate = () => run(process.execPath, ['src/migrate.ts'], { env })
    await expect(migrate()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^weft: the data directory [^\n]* is in use [^\n]*\n$/),
    })
    await server.stop()
    expect((await migrate()).stdout).toBe('0 migrations applied\n')
  })
})

describe('a data directory that changes under its server', () => {
  function start(url: string, id: string): Promise<Response> {
    const started_at = '2026-01-31T09:30:00Z'
    const call = { project_id: 'acme/demo', id, op_name: 'a', started_at, attributes: {} }
    return fetch(`${url}/call/start`, {
      method: 'POST',
      headers: { authorization: basic(TEST_KEY), 'content-type': 'application/json' },
      body: JSON.stringify({ start: { ...call, inputs: {} } }),
    })
  }

  it.each([
    ['removed', (dataDir: string) => rmSync(dataDir, { recursive: true })],
    [
      'moved, with a copy in its place',
      (dataDir: string) => {
        renameSync(dataDir, `${dataDir}-moved`)
        cpSync(`${dataDir}-moved/weft.db`, `${dataDir}/weft.db`)
      },
    ],
  ])('takes no write after it was %s', async (_name, change) => {
    const dataDir = join(makeTempDir(), 'data')
    const server = await openServer(dataDir)
    expect((await start(server.url, 'before')).status).toBe(200)
    change(dataDir)
    const refused = await start(server.url, 'after')
    expect([refused.status, await refused.text()]).toEqual([
      503,
      expect.stringContaining('moved or removed while the server was running'),
    ])
    // A result of the check is kept for a moment.
    await vi.waitFor(async () => {
      const ready = await fetch(`${server.url}/ready`)
      expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('restart')])
    }, 5000)
  })

  it('takes writes again when the same directory is back', async () => {
    const dataDir = join(makeTempDir(), 'data')
    const server = await openServer(dataDir)
    renameSync(dataDir, `${dataDir}-moved`)
    const refused = await start(server.url, 'away')
    expect([refused.status, await refused.text()]).toEqual([
      503,
      expect.stringContaining('put it back or restart the server'),
    ])
    renameSync(`${dataDir}-moved`, dataDir)
    expect((await start(server.url, 'back')).status).toBe(200)
    await server.stop()
    const db = new Database(join(dataDir, 'weft.db'))
    onTestFinished(() => void db.close())
    expect(db.prepare('SELECT count(*) FROM calls').pluck().get()).toBe(1)
  })

  it('belongs to the server that was started in its place, also when the first one stops', async () => {
    const dataDir = join(makeTempDir(), 'data')
    const first = await openServer(dataDir)
    renameSync(dataDir, `${dataDir}-moved`)
    const second = await spawnServer({ WEFT_DATA_DIR: dataDir })
    await first.stop()
    expect(readFileSync(join(dataDir, 'weft.pid'), 'utf8')).toBe(`${second.process.pid}\n`)
    const env = { ...INHERITED, WEFT_DATA_DIR: dataDir }
    const backup = ['src/backup.ts', '--to', `${dataDir}-copy`]
    expect((await run(process.execPath, backup, { env })).stderr).toBe('')
    await second.stop()
    expect(readdirSync(dataDir).filter((name) => /sock|pid|\.s$/.test(name))).toEqual([])
  })
})

describe('a start on a taken port', () => {
  it('ends with one clear line and loses nothing of its own data directory', async () => {
    const dataDir = makeTempDir()
    const first = await openServer(dataDir)
    const content = 'y'.repeat(100_000)
    const { digest } = (await (await upload(first.url, content)).json()) as { digest: string }
    await first.stop()
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void blocker.close())
    const { port } = blocker.address() as { port: number }
    const failed = await runUntilExit({
      WEFT_DATA_DIR: dataDir,
      WEFT_PORT: String(port),
      WEFT_LOG_LEVEL: 'warn',
    })
    expect(failed).toEqual({
      code: 1,
      stdout: '',
      stderr: `weft: the address 127.0.0.1:${port} is taken (set WEFT_PORT)\n`,
    })

    const again = await openServer(dataDir)
    const response = await fetch(`${again.url}/file/content`, {
      method: 'POST',
      headers: { authorization: basic(TEST_KEY), 'content-type': 'application/json' },
      body: JSON.stringify({ project_id: 'acme/demo', digest }),
    })
    expect(await response.text()).toBe(content)
  })
})
