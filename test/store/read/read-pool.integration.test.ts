import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { INSERT_KEY } from '../../../src/store/base/access/keys.sql.ts'
import {
  type Connection,
  closeDatabase,
  DATABASE_FILE,
  openDatabase,
} from '../../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../../src/store/sqlite/db/migrate.ts'
import { createInlineReadPool } from '../../../src/store/sqlite/read/inline-reads.ts'
import {
  createReadPool,
  type ReadPool,
  type ReadPoolOptions,
} from '../../../src/store/sqlite/read/read-pool.ts'
import { nicenessOf } from '../../support/niceness.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { TEST_READ_JOBS, type TestReadJobs } from './test-read-jobs.ts'

const never = readCaller()
const other = readCaller({ project_id: 'acme/other' })
const until = ({ signal }: AbortController) => readCaller({ signal })

interface Subject {
  readonly db: Connection
  readonly pool: ReadPool<TestReadJobs>
}

function openMigrated(dataDir: string): Connection {
  const db = openDatabase(dataDir)
  migrate(db)
  return db
}

function openThreads(options: Partial<ReadPoolOptions> = {}): Subject {
  const directory = makeTempDir()
  const db = openMigrated(directory)
  const pool = createReadPool<TestReadJobs>({
    path: join(directory, DATABASE_FILE),
    readers: 1,
    queueMax: 2,
    timeoutMs: 15_000,
    entry: new URL('./test-reader-entry.ts', import.meta.url),
    ...options,
  })
  onTestFinished(async () => {
    await pool.close()
    closeDatabase(db)
  })
  return { db, pool }
}

function openInline(): Subject {
  const db = openMigrated(':memory:')
  const pool = createInlineReadPool(db, TEST_READ_JOBS)
  onTestFinished(async () => {
    await pool.close()
    closeDatabase(db)
  })
  return { db, pool }
}

function addKey(db: Connection): void {
  const rights = { svc_user_id: 'u', svc_username: 'u', scopes_json: '[]', projects_json: '[]' }
  const settings = {
    name: null,
    models_json: null,
    expires_at_us: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    parallel_requests: null,
  }
  const hash = randomBytes(32)
  db.prepare(INSERT_KEY).run({
    ...rights,
    ...settings,
    id: hash.toString('hex'),
    hash,
    created_at_us: 0,
  })
}

describe.each([
  ['threads', openThreads],
  ['the main connection', openInline],
])('a read pool on %s', (_name, open) => {
  it('the pool returns the result of the job', async () => {
    const { pool } = open()
    expect(await pool.run('echo', { text: 'warp' }, never)).toEqual({ text: 'warp' })
  })

  it('a read sees every earlier commit', async () => {
    const { db, pool } = open()
    for (let made = 1; made <= 3; made++) {
      addKey(db)
      expect(await pool.run('count', { table: 'keys' }, never)).toBe(made)
    }
  })

  it('code, param and wait of an ApiError pass from the thread to the caller', async () => {
    const { pool } = open()
    const run = pool.run('refuse', null, never)
    await expect(run).rejects.toBeInstanceOf(ApiError)
    await expect(run).rejects.toMatchObject({
      code: 'call_conflict',
      param: 'start.id',
      retryAfterS: 7,
    })
  })

  it('a read of a disconnected caller does not start', async () => {
    const { pool } = open()
    const gone = pool.run('spin', null, readCaller({ signal: AbortSignal.abort() }))
    await expect(gone).rejects.toMatchObject({ code: 'client_closed_request' })
  })

  it('an ApiError as reason of the signal becomes the error of the read', async () => {
    const { pool } = open()
    const reason = new ApiError('server_draining')
    const gone = pool.run('echo', { text: '' }, readCaller({ signal: AbortSignal.abort(reason) }))
    await expect(gone).rejects.toBe(reason)
  })
})

describe('a read pool on threads', () => {
  it('a read thread cannot write', async () => {
    const { pool } = openThreads()
    await expect(pool.run('write', null, never)).rejects.toMatchObject({
      code: 'store_unavailable',
    })
  })

  it('any other error becomes internal_error, and the thread continues', async () => {
    const { pool } = openThreads()
    await expect(pool.run('fail', null, never)).rejects.toMatchObject({ code: 'internal_error' })
    expect(await pool.run('echo', { text: 'on' }, never)).toEqual({ text: 'on' })
  })

  it('job names outside the registry are refused', async () => {
    const { pool } = openThreads()
    for (const name of ['toString', 'no-such']) {
      await expect(pool.run(name as 'fail', null, never)).rejects.toMatchObject({
        code: 'internal_error',
      })
    }
  })

  it('a dead thread is replaced, and only its job fails', async () => {
    const { pool } = openThreads()
    const dead = pool.run('die', null, never)
    const next = pool.run('echo', { text: 'alive' }, never)
    await expect(dead).rejects.toMatchObject({ code: 'internal_error' })
    expect(await next).toEqual({ text: 'alive' })
  })

  it('a job beyond a full queue is refused', async () => {
    const { pool } = openThreads({ queueMax: 2 })
    const abort = new AbortController()
    const taken = [1, 2, 3].map(() => pool.run('spin', null, until(abort)))
    await expect(pool.run('spin', null, never)).rejects.toMatchObject({
      code: 'server_overloaded',
      retryAfterS: 1,
    })
    abort.abort()
    const results = await Promise.allSettled(taken)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(await pool.run('echo', { text: 'free' }, never)).toEqual({ text: 'free' })
  })

  it('a running job of a disconnected caller is stopped, and its thread reused', async () => {
    const { pool } = openThreads()
    const abort = new AbortController()
    const running = pool.run('spin', null, until(abort))
    const next = pool.run('echo', { text: 'next' }, never)
    abort.abort()
    await expect(running).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(await next).toEqual({ text: 'next' })
  })

  it('a waiting job of a disconnected caller is dropped', async () => {
    const { pool } = openThreads()
    const first = new AbortController()
    const second = new AbortController()
    const running = pool.run('spin', null, until(first))
    const counter = new SharedArrayBuffer(4)
    const waiting = pool.run('mark', counter, until(second))
    second.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'client_closed_request' })
    first.abort()
    await expect(running).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(await pool.run('mark', counter, never)).toBe(0)
  })

  it('a job longer than the timeout is ended', async () => {
    const { pool } = openThreads({ timeoutMs: 30 })
    await expect(pool.run('spin', null, never)).rejects.toMatchObject({ code: 'read_timeout' })
  })

  it('as many jobs run at once as there are threads', async () => {
    const { pool } = openThreads({ readers: 2 })
    const abort = new AbortController()
    const running = pool.run('spin', null, until(abort))
    expect(await pool.run('echo', { text: 'beside' }, other)).toEqual({ text: 'beside' })
    abort.abort()
    await expect(running).rejects.toMatchObject({ code: 'client_closed_request' })
  })

  it.runIf(process.platform === 'linux')('read threads have the configured priority', async () => {
    for (const niceness of [0, 12]) {
      const { pool } = openThreads({ niceness })
      const stat = await pool.run('stat', null, never)
      const before = nicenessOf(readFileSync('/proc/thread-self/stat', 'utf8'))
      expect(nicenessOf(stat)).toBe(Math.max(before, niceness))
    }
  })

  it('idle threads end, except the oldest', async () => {
    const { pool } = openThreads({ readers: 2, lookEveryMs: 20 })
    const runTwo = () => Promise.all([never, other].map((who) => pool.run('thread', 300, who)))
    const first = await runTwo()
    let later = first
    while (first.every((id) => later.includes(id))) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      later = await runTwo()
    }
    expect(later).toContain(Math.min(...first))
    expect(later).not.toContain(Math.max(...first))
  })

  it('a closed pool fails running and waiting jobs and accepts no more', async () => {
    const { pool } = openThreads()
    const jobs = [1, 2].map(() => pool.run('spin', null, never))
    const failed = Promise.allSettled(jobs)
    await pool.close()
    for (const result of await failed) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'server_draining' } })
    }
    await expect(pool.run('echo', { text: '' }, never)).rejects.toMatchObject({
      code: 'server_draining',
    })
  })
})
