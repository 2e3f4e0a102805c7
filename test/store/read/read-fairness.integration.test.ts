import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  closeDatabase,
  DATABASE_FILE,
  openDatabase,
} from '../../../src/store/sqlite/db/connection.ts'
import { createWalGateMemory, openWalGate } from '../../../src/store/sqlite/db/wal-gate.ts'
import { createReadPool, type ReadPoolOptions } from '../../../src/store/sqlite/read/read-pool.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import type { TestReadJobs } from './test-read-jobs.ts'

const other = readCaller({ project_id: 'acme/other' })

function open(options: Partial<ReadPoolOptions>) {
  const directory = makeTempDir()
  const db = openDatabase(directory)
  const pool = createReadPool<TestReadJobs>({
    path: join(directory, DATABASE_FILE),
    readers: 1,
    queueMax: 20,
    timeoutMs: 30_000,
    entry: new URL('./test-reader-entry.ts', import.meta.url),
    ...options,
  })
  const abort = new AbortController()
  const hostile = readCaller({ signal: abort.signal })
  const jobs: Promise<unknown>[] = []
  onTestFinished(async () => {
    abort.abort()
    await Promise.allSettled(jobs)
    await pool.close()
    closeDatabase(db)
  })
  /** Has a caller run jobs that only end when they are told to. */
  function flood(name: 'spin' | 'pause', count: number, caller = hostile) {
    const flooded = Array.from({ length: count }, () => pool.run(name, null, caller))
    for (const job of flooded) job.catch(() => undefined)
    jobs.push(...flooded)
    return flooded
  }
  return { pool, hostile, flood, abort }
}

async function countSettled(jobs: readonly Promise<unknown>[]): Promise<number> {
  const unsettled = Symbol('unsettled')
  const states = await Promise.all(
    jobs.map((job) => Promise.race([job, Promise.resolve(unsettled)]).catch(() => null)),
  )
  return states.filter((state) => state !== unsettled).length
}

/** Waits until a job has told that it runs. */
async function untilTold(told: SharedArrayBuffer): Promise<void> {
  while (Atomics.load(new Int32Array(told), 0) === 0) await setTimeout(5)
}

describe('a read of another project', () => {
  it('a read completes while four reads of a hostile project still run on the only thread', async () => {
    const { pool, flood } = open({ jobsPerReader: 8 })
    const running = flood('pause', 4)
    expect(await pool.run('echo', { text: 'through' }, other)).toEqual({ text: 'through' })
    expect(await countSettled(running)).toBe(0)
  })

  it('a read completes while four non-pausing reads of a hostile project occupy all their threads', async () => {
    const { pool, flood } = open({ readers: 2 })
    const running = flood('spin', 4)
    expect(await pool.run('echo', { text: 'through' }, other)).toEqual({ text: 'through' })
    expect(await countSettled(running)).toBe(0)
  })

  it('a read of another project enters a full queue, evicting the last of the longest line', async () => {
    const { pool, flood } = open({ queueMax: 3 })
    const running = flood('spin', 4)
    const waiting = pool.run('echo', { text: 'in' }, other)
    await expect(running[3]).rejects.toMatchObject({ code: 'server_overloaded', retryAfterS: 1 })
    expect(await countSettled(running)).toBe(1)
    const refused = flood('spin', 1)
    await expect(refused[0]).rejects.toMatchObject({ code: 'server_overloaded' })
    expect(await countSettled([waiting])).toBe(0)
    waiting.catch(() => undefined)
  })
})

describe('a read pool', () => {
  it('inputs with more bytes than may wait are refused', async () => {
    const { pool, flood } = open({ queueBytesMax: 1000 })
    flood('spin', 1)
    const small = pool.run('echo', { text: 'x'.repeat(100) }, other)
    small.catch(() => undefined)
    const large = pool.run('echo', { text: 'x'.repeat(400) }, other)
    await expect(large).rejects.toMatchObject({ code: 'server_overloaded' })
    expect(await countSettled([small])).toBe(0)
  })

  it('a pausing job stops when its caller leaves, and the others continue', async () => {
    const { pool, flood, abort } = open({ jobsPerReader: 8 })
    const stopped = flood('pause', 1)
    const stays = flood('pause', 1, other)
    abort.abort()
    await expect(stopped[0]).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(await pool.run('echo', { text: 'on' }, readCaller())).toEqual({ text: 'on' })
    expect(await countSettled(stays)).toBe(0)
    await pool.close()
  })

  it('no slice begins while the WAL drains, and slices continue afterwards', async () => {
    const memory = createWalGateMemory()
    const gate = openWalGate(memory)
    const { pool } = open({ gate: memory })
    const counter = new SharedArrayBuffer(4)
    expect(await pool.run('mark', counter, other)).toBe(0)
    gate.drain()
    const held = pool.run('mark', counter, other)
    await setTimeout(50)
    expect(Atomics.load(new Int32Array(counter), 0)).toBe(1)
    gate.open()
    expect(await held).toBe(1)
  })

  it('a read that blocks a full WAL is ended', async () => {
    const memory = createWalGateMemory()
    const { pool } = open({ gate: memory })
    const told = new SharedArrayBuffer(4)
    const running = pool.run('spinTold', told, other)
    running.catch(() => undefined)
    await untilTold(told)
    openWalGate(memory).fill()
    await expect(running).rejects.toMatchObject({ code: 'server_overloaded', retryAfterS: 1 })
    openWalGate(memory).open()
  })

  it('jobs that ran next to a killed one are rerun', async () => {
    const { pool, hostile, abort } = open({ jobsPerReader: 2, cancelGraceMs: 50 })
    const told = new SharedArrayBuffer(4)
    const stays = pool.run('echoLater', { text: 'anew', slices: 3 }, other)
    const deaf = pool.run('deaf', told, hostile)
    deaf.catch(() => undefined)
    await untilTold(told)
    abort.abort()
    await expect(deaf).rejects.toMatchObject({ code: 'client_closed_request' })
    expect(await stays).toEqual({ text: 'anew' })
  })
})
