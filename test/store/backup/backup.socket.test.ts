import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Stores } from '../../../src/store/api/stores.ts'
import { openSqliteStores } from '../../../src/store/sqlite/open-locked.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { INHERITED } from '../../support/inherited.ts'
import { spawnServer } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { startOf } from '../calls/call-store-contract.ts'

const PROJECT = 'acme/demo'

/** The command as a person runs it. */
function startBackup(dataDir: string, to: string) {
  const child = spawn(process.execPath, ['src/backup.ts', '--to', to], {
    env: { ...INHERITED, WEFT_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, ended: Promise.all([closed, text(child.stdout), text(child.stderr)]) }
}

async function openStores(dataDir: string): Promise<Stores> {
  const stores = await openSqliteStores({ dataDir, ingestQueueMax: 1000 })
  onTestFinished(() => stores.close())
  return stores
}

async function upload(stores: Stores, letter: string): Promise<string> {
  const file = await stores.files.receiveFile([Buffer.alloc(100_000, letter)] as never)
  await file.keep(PROJECT)
  await file.discard()
  return file.digest
}

/** Starts calls one after the other until it is told to end. */
function startWriting(stores: Stores) {
  const ids: string[] = []
  let isOver = false
  const write = async () => {
    for (let n = 0; !isOver; n++) {
      const id = `call-${n}`
      await stores.calls.startCall(startOf({ project_id: PROJECT, id }))
      ids.push(id)
    }
  }
  const ended = write()
  return {
    ids,
    end: () => {
      isOver = true
      return ended
    },
  }
}

/** The only file of a folder in a data directory. */
function fileIn(dataDir: string, folder: string): string {
  const found = readdirSync(join(dataDir, folder), { recursive: true, withFileTypes: true })
  const [file] = found.filter((entry) => entry.isFile())
  return join(file?.parentPath ?? '', file?.name ?? '')
}

describe('npm run backup beside the process that has the directory', () => {
  it('npm run backup copies everything acknowledged before it', async () => {
    const dataDir = makeTempDir()
    const stores = await openStores(dataDir)
    const digest = await upload(stores, 'a')
    const writing = startWriting(stores)
    await expect.poll(() => writing.ids.length).toBeGreaterThan(20)
    const before = [...writing.ids]
    const to = join(makeTempDir(), 'copy')
    const [code, stdout, stderr] = await startBackup(dataDir, to).ended
    await writing.end()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`${dataDir} is backed up to ${to}`)
    expect(readdirSync(to).sort()).toEqual(['files', 'weft.db', 'weft.db-wal'])
    const entries = readdirSync(to, { recursive: true, withFileTypes: true })
    const modes = entries.map(({ parentPath, name }) => statSync(join(parentPath, name)).mode)
    expect(modes.map((mode) => mode & 0o077).filter((mode) => mode !== 0)).toEqual([])

    const { post } = await buildTestApp({ dataDir: to })
    const calls = await post('/calls/stream_query', { project_id: PROJECT })
    const found = new Set(calls.text.split('\n').map((line) => line && JSON.parse(line).id))
    expect(before.filter((id) => !found.has(id))).toEqual([])
    const content = await post('/file/content', { project_id: PROJECT, digest })
    expect(content.text).toBe('a'.repeat(100_000))
  })

  it('a killed backup leaves no backup, and the next one replaces its remains', async () => {
    const dataDir = makeTempDir()
    const stores = await openStores(dataDir)
    await upload(stores, 'a')
    const file = fileIn(dataDir, 'files')
    renameSync(file, `${file}.aside`)
    // It is opened and never answers: the backup stays where it copies files.
    execFileSync('mkfifo', [file])
    const root = makeTempDir()
    const to = join(root, 'copy')
    const killed = startBackup(dataDir, to)
    const isCopying = () => existsSync(join(`${to}.partial`, 'files'))
    await expect.poll(isCopying, { timeout: 20_000 }).toBe(true)
    const [other, same] = await Promise.all([
      startBackup(dataDir, join(root, 'other')).ended,
      startBackup(dataDir, to).ended,
    ])
    expect([other[0], other[2]]).toEqual([1, expect.stringContaining('another backup')])
    expect([same[0], same[2]]).toEqual([1, expect.stringContaining('copy.partial is in use')])
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(readdirSync(root)).toEqual(['copy.partial'])
    rmSync(file)
    renameSync(`${file}.aside`, file)
    expect((await startBackup(dataDir, to).ended)[0]).toBe(0)
    expect(readdirSync(root)).toEqual(['copy'])
  })

  it('a backup can be copied over a directory with the WAL of a crash', async () => {
    const dataDir = makeTempDir()
    const stores = await openStores(dataDir)
    await stores.calls.startCall(startOf({ project_id: PROJECT, id: 'before' }))
    const to = join(makeTempDir(), 'copy')
    expect((await startBackup(dataDir, to).ended)[0]).toBe(0)
    await stores.calls.startCall(startOf({ project_id: PROJECT, id: 'after' }))
    const crashed = join(makeTempDir(), 'crashed')
    // What a killed process leaves: the socket cannot be copied.
    const filter = (path: string) => !path.endsWith('.sock')
    cpSync(dataDir, crashed, { recursive: true, filter })
    cpSync(to, crashed, { recursive: true })
    const db = new Database(join(crashed, 'weft.db'))
    expect(db.prepare('SELECT count(*) FROM calls').pluck().get()).toBe(1)
    db.close()
  })

  it('a path too long for a socket is reported by the command and in the log', async () => {
    const dataDir = join(makeTempDir(), 'x'.repeat(120))
    const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
    const reason = /too long path: a socket's path may have 10[37] bytes/
    const [code, stdout, stderr] = await startBackup(dataDir, join(makeTempDir(), 'copy')).ended
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(reason)])
    await server.stop()
    const lines = server
      .output()
      .stdout.split('\n')
      .filter((line) => reason.test(line))
    expect(lines.map((line) => JSON.parse(line).level)).toEqual([40])
  })

  it('a backup stops when its client has disconnected, also after an invalid request', async () => {
    const dataDir = makeTempDir()
    const stores = await openStores(dataDir)
    await stores.calls.startCall(startOf())
    const ask = async (line: string) => {
      const socket = connect(join(dataDir, 'weft.sock'))
      socket.end(`${line}\n`)
      return text(socket)
    }
    expect(await ask('{"copy_to": 1}')).toContain('not a valid backup request')
    await ask(JSON.stringify({ copy_to: join(makeTempDir(), 'copy.db') }))
    const to = join(makeTempDir(), 'copy')
    expect((await startBackup(dataDir, to).ended)[0]).toBe(0)
  })
})

describe('npm run backup without a server', () => {
  it('npm run backup exits with 2 when files are missing or damaged, and leaves the directory unchanged', async () => {
    const dataDir = makeTempDir()
    const stores = await openStores(dataDir)
    const kept = await upload(stores, 'a')
    const gone = fileIn(dataDir, 'files')
    await upload(stores, 'b')
    await stores.close()
    rmSync(gone)
    writeFileSync(fileIn(dataDir, 'files'), 'other bytes')
    const before = readdirSync(dataDir, { recursive: true }).sort()
    const to = join(makeTempDir(), 'copy')
    const [code, , stderr] = await startBackup(dataDir, to).ended
    expect([code, stderr]).toEqual([2, expect.stringContaining('1 missing and 1 damaged files')])
    expect(readdirSync(dataDir, { recursive: true }).sort()).toEqual(before)
    const copy = await openStores(to)
    expect(await copy.files.findFile(PROJECT, kept).catch(({ code }) => code)).toBe(
      'file_not_found',
    )
  })
})
