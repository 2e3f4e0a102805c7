/** The life of a worker, with a fake server. */
import { describe, expect, it } from 'vitest'
import { ADAPTER_BYTES_MAX } from '../../../src/inference/tiny/host/adapter-files.ts'
import { AdapterFileError } from '../../../src/inference/tiny/lora/adapter.ts'
import type { ClaimResponse } from '../../../src/schemas/training/worker.ts'
import { DivergedError, type JobTrainer } from '../../../src/training/worker/train-job.ts'
import { TrajectoryError } from '../../../src/training/worker/trajectory-reader.ts'
import {
  type JobClient,
  LeaseLostError,
  type WorkerClient,
} from '../../../src/training/worker/worker-client.ts'
import { runWorker, type WorkerLogEntry } from '../../../src/training/worker/worker-loop.ts'

const claimed = {
  id: 'job-1',
  attempt: 1,
  heartbeat_seconds: 20,
  payload: { url: '/payload', sha256: 'hash', bytes: 8 * 1024 * 1024 },
  resolved_config: { learning_rate: 0.01 },
} as unknown as ClaimResponse

const TRAINED = { artifact: Uint8Array.of(1, 2), reason: null, metrics: { reward: 0.5 } }

interface Setup {
  readonly open?: () => void
  readonly train: JobTrainer['train']
  readonly job?: Partial<JobClient>
  readonly claim?: (times: number, stop: () => void) => ClaimResponse | null
  readonly changes?: Partial<ClaimResponse>
}

/** Runs a worker that gets one job and is then stopped; the calls that it made, in order. */
async function run({ train, job = {}, claim, changes = {}, open = () => {} }: Setup) {
  const calls: (readonly [string, unknown])[] = []
  const log: WorkerLogEntry[] = []
  const leases: (string | null)[] = []
  const stop = new AbortController()
  const note =
    (name: string) =>
    async (body?: unknown): Promise<void> => {
      calls.push([name, body])
    }
  const jobClient: JobClient = {
    payload: async () => '[{"trajectories":[]}]',
    parent: async () => null,
    heartbeat: async (progress) => {
      calls.push(['heartbeat', progress])
      return { lease_expires_at: '', cancel_requested: false }
    },
    sendEvents: note('events'),
    upload: async (artifact) => {
      calls.push(['upload', artifact])
      return 'sha'
    },
    complete: note('complete'),
    fail: note('fail'),
    release: note('release'),
    ...job,
  }
  let times = 0
  let opened = 0
  const client: WorkerClient = {
    async claim(request) {
      expect(request).toEqual({
        worker_id: 'w',
        worker_version: '1',
        base_models: ['small'],
        wait_seconds: 30,
      })
      times++
      if (claim !== undefined) return claim(times, () => stop.abort())
      if (times === 1) return { ...claimed, ...changes }
      stop.abort()
      return null
    },
    job: () => jobClient,
    renew: note('renewed'),
    release: note('released'),
  }
  await runWorker({
    client,
    workerId: 'w',
    workerVersion: '1',
    baseModel: 'small',
    openTrainer: () => {
      opened++
      open()
      return { train: (input, hooks) => train(input, { ...hooks, pause: hooks.pause }) }
    },
    signal: stop.signal,
    log: (entry) => log.push(entry),
    onLease: (lease) => leases.push(lease?.id ?? null),
  })
  return { calls, log, times, opened, leases }
}

const failing =
  (error: unknown): JobTrainer['train'] =>
  async () => {
    throw error
  }

describe('a job', () => {
  it('a job is trained, reported in numbered events, uploaded and completed', async () => {
    const { calls } = await run({
      train: async ({ groups, config, parent }, hooks) => {
        expect({ groups, parent }).toEqual({ groups: [{ trajectories: [] }], parent: null })
        expect(config).toEqual({ learning_rate: 0.01 })
        hooks.onStart(2)
        await hooks.pause()
        hooks.onStep({ loss: 1 })
        hooks.onStep({ loss: 2 })
        return TRAINED
      },
    })
    expect(calls).toEqual([
      ['events', [{ seq: 0, type: 'training_started', data: { num_sequences: 2 } }]],
      [
        'events',
        [
          { seq: 1, type: 'gradient_step', data: { loss: 1 } },
          { seq: 2, type: 'gradient_step', data: { loss: 2 } },
        ],
      ],
      ['upload', TRAINED.artifact],
      ['complete', { sha256: 'sha', metrics: { reward: 0.5 }, trained: true, reason: null }],
    ])
  })

  it('a job with nothing to learn is completed with its reason and without an artifact', async () => {
    const { calls } = await run({
      train: async () => ({ artifact: null, reason: 'no_variance', metrics: {} }),
    })
    expect(calls).toEqual([
      ['complete', { sha256: null, metrics: {}, trained: false, reason: 'no_variance' }],
    ])
  })

  it('a running job sends heartbeats with its progress when due', async () => {
    const { calls } = await run({
      changes: { heartbeat_seconds: 0 },
      train: async (_input, hooks) => {
        hooks.onStart(2)
        hooks.onStep({})
        await hooks.pause()
        return TRAINED
      },
    })
    expect(calls.filter(([name]) => name === 'heartbeat')).toEqual([
      ['heartbeat', 0.5],
      ['heartbeat', 0.5],
    ])
  })
})

describe('a job that does not end well', () => {
  it.each([
    ['invalid_trajectory', new TrajectoryError('trajectory_groups[0]: bad')],
    ['invalid_parent_artifact', new AdapterFileError('the archive is damaged')],
    ['training_diverged', new DivergedError()],
  ])('a job fails without retry as %s', async (code, error) => {
    const { calls } = await run({ train: failing(error) })
    expect(calls).toEqual([['fail', { error: { code, message: error.message }, retryable: false }]])
  })

  it('a job fails without retry when its parent is too large for the memory', async () => {
    const artifact = { url: '/parent', sha256: 'hash', bytes: ADAPTER_BYTES_MAX + 1 }
    const { calls } = await run({
      changes: { parent_checkpoint: { id: 'c', step: 1, artifact } },
      job: { parent: () => Promise.reject(new Error('never fetched')) },
      train: async () => TRAINED,
    })
    const error = { code: 'invalid_parent_artifact', message: expect.any(String) }
    expect(calls).toEqual([['fail', { error, retryable: false }]])
  })

  it('a job fails with retry after any other error', async () => {
    const { calls, times } = await run({ train: failing(new Error('out of luck')) })
    expect(calls).toEqual([
      ['fail', { error: { code: 'worker_failed', message: 'out of luck' }, retryable: true }],
    ])
    expect(times).toBe(2)
  })

  it('a job fails with retry, without a path in the error, when the model cannot be loaded', async () => {
    const { calls, leases, log } = await run({
      train: async () => TRAINED,
      open() {
        throw new Error("ENOENT: no such file, open '/models/tiny.gguf'")
      },
    })
    const message = 'the worker cannot load its base model'
    expect(calls).toEqual([
      ['fail', { error: { code: 'worker_failed', message }, retryable: true }],
    ])
    expect(leases).toEqual(['job-1', null])
    expect(log[0]?.message).toContain('ENOENT')
  })

  it('the lease of a job whose end the server refuses is no longer renewed', async () => {
    const { leases, times } = await run({
      train: failing(new Error('out of luck')),
      job: {
        fail: async () => {
          throw new Error('answered 500')
        },
      },
    })
    expect(times).toBe(2)
    expect(leases).toEqual(['job-1', null])
  })

  it('a cancelled job is released', async () => {
    const { calls } = await run({
      changes: { heartbeat_seconds: 0 },
      job: { heartbeat: async () => ({ lease_expires_at: '', cancel_requested: true }) },
      train: async (_input, hooks) => {
        await hooks.pause()
        return TRAINED
      },
    })
    expect(calls).toEqual([['release', undefined]])
  })

  it('a job is released when the worker must stop', async () => {
    const held = Promise.withResolvers<void>()
    let stopNow = (): void => {}
    const { calls, times } = await run({
      claim: (_times, stop) => {
        stopNow = stop
        return claimed
      },
      train: async (_input, hooks) => {
        stopNow()
        held.resolve()
        await hooks.pause()
        return TRAINED
      },
    })
    await held.promise
    expect(calls).toEqual([['release', undefined]])
    expect(times).toBe(1)
  })

  it.each(['complete', 'fail', 'release'] as const)(
    'a job is dropped when the lease is lost at %s',
    async (name) => {
      const lost = async () => {
        throw new LeaseLostError()
      }
      const { calls, times } = await run({
        changes: { heartbeat_seconds: name === 'release' ? 0 : 20 },
        job: {
          [name]: lost,
          heartbeat: async () => ({ lease_expires_at: '', cancel_requested: true }),
        },
        train: async (_input, hooks) => {
          if (name === 'fail') throw new Error('any')
          await hooks.pause()
          return TRAINED
        },
      })
      const told = calls.map(([call]) => call)
      expect(told).toEqual(name === 'complete' ? ['upload'] : [])
      expect(times).toBe(2)
    },
  )
})

describe('between jobs', () => {
  it('the worker waits after a failed claim and continues', async () => {
    const { times, log, opened } = await run({
      train: failing(new Error('never called')),
      claim: (count, stop) => {
        if (count === 1) throw new TypeError('fetch failed')
        stop()
        return null
      },
    })
    expect(times).toBe(2)
    expect(log).toMatchObject([{ level: 'warn' }])
    expect(opened).toBe(0)
  })

  it('the model is loaded with the first job only', async () => {
    const { opened, times, leases } = await run({
      train: async () => TRAINED,
      claim: (count, stop) => {
        if (count === 4) stop()
        return count % 2 === 1 ? claimed : null
      },
    })
    expect({ opened, times }).toEqual({ opened: 1, times: 4 })
    expect(leases).toEqual(['job-1', null, 'job-1', null])
  })
  it('the worker loop ends after a large payload, whose memory an idle thread would retain', async () => {
    const payload = { ...claimed.payload, bytes: claimed.payload.bytes + 1 }
    const { times, leases } = await run({ train: async () => TRAINED, changes: { payload } })
    expect(times).toBe(1)
    expect(leases).toEqual(['job-1', null])
  })
})
