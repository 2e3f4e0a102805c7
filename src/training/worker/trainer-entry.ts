/**
 * The thread of the built-in trainer: a worker like any other, which talks to its server only over HTTP.
 */
import { readFileSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { loadModel } from '../../inference/tiny/model/model.ts'
import { serveThread } from '../../threads/serve-thread.ts'
import { createJobTrainer } from './train-job.ts'
import type { TrainerNotice, TrainerThreadOptions } from './trainer.ts'
import { createWorkerClient } from './worker-client.ts'
import { runWorker } from './worker-loop.ts'

const { baseUrl, token, modelPath, ...names } = workerData as TrainerThreadOptions

async function run(notify: (notice: TrainerNotice) => void, signal: AbortSignal): Promise<void> {
  await runWorker({
    client: createWorkerClient(baseUrl, token),
    ...names,
    openTrainer: () => createJobTrainer(loadModel(readFileSync(modelPath)), names.baseModel),
    signal,
    log: (entry) => notify({ entry }),
    onLease: (lease) => notify({ lease }),
  })
  // Idle keep-alive connections would keep the thread from ending.
  process.exit(0)
}

serveThread<never, never, TrainerNotice>((notify) => {
  const stop = new AbortController()
  void run(notify, stop.signal)
  return { run: (request) => request, close: () => stop.abort() }
})
