/** Jobs for the tests of the read pool. */
import { readFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { ApiError } from '../../../src/errors.ts'
import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import type { ReadJobs } from '../../../src/store/sqlite/read/read-job.ts'

export const TEST_READ_JOBS = {
  echo: (_db: Connection, input: { text: string }) => input,
  count: (db: Connection, input: { table: 'keys' }) =>
    (db.prepare(`SELECT count(*) AS n FROM ${input.table}`).get() as { n: number }).n,
  write: (db: Connection, _input: null) => db.prepare('DELETE FROM keys').run().changes,
  refuse: (_db: Connection, _input: null): null => {
    throw new ApiError('call_conflict', { param: 'start.id', retryAfterS: 7 })
  },
  fail: (_db: Connection, _input: null): null => {
    throw new TypeError('a broken job')
  },
  /** Runs until it is told to stop. */
  spin: (_db: Connection, _input: null, checkpoint: () => void): null => {
    for (;;) checkpoint()
  },
  /** Runs until it is told to stop, in slices. */
  *pause(_db: Connection, _input: null, checkpoint: () => boolean): Generator<void, null> {
    for (;;) if (checkpoint()) yield
  },
  /** Gives its text back after some slices. */
  *echoLater(
    _db: Connection,
    { text, slices }: { text: string; slices: number },
    checkpoint: () => boolean,
  ): Generator<void, { text: string }> {
    for (let slice = 0; slice < slices; slice++) {
      while (!checkpoint());
      yield
    }
    return { text }
  },
  /** Holds on to the log in each of its slices, of which there is no end. */
  *hold(db: Connection, _input: null, checkpoint: () => boolean): Generator<void, null> {
    for (;;) {
      db.prepare('SELECT count(*) FROM sqlite_schema').get()
      while (!checkpoint());
      yield
    }
  },
  /** Tells that it runs, and looks at nothing. */
  deaf: (_db: Connection, input: SharedArrayBuffer): null => {
    Atomics.store(new Int32Array(input), 0, 1)
    for (;;);
  },
  /** Tells that it runs, and goes on until it is told to stop. */
  spinTold: (_db: Connection, input: SharedArrayBuffer, checkpoint: () => boolean): null => {
    Atomics.store(new Int32Array(input), 0, 1)
    for (;;) checkpoint()
  },
  /** Counts that it ran. */
  mark: (_db: Connection, input: SharedArrayBuffer) => Atomics.add(new Int32Array(input), 0, 1),
  /** The id of its thread, after others had the time to begin. */
  thread: (_db: Connection, waitMs: number) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
    return threadId
  },
  /** The status line of its thread. */
  stat: (_db: Connection, _input: null) => readFileSync('/proc/thread-self/stat', 'utf8'),
  /** Ends its thread. */
  die: (_db: Connection, _input: null): null => {
    process.exit(1)
  },
} as const satisfies ReadJobs

export type TestReadJobs = typeof TEST_READ_JOBS
