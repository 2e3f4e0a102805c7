/**
 * The thread of the built-in trainer: a worker like any other, which talks to its server only over HTTP.
 */
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { loadModel } from '../../inference/tiny/model/model.ts'
import { createJobTrainer } from './train-job.ts'
import type { FromTrainer, TrainerThreadOptions } from './trainer.ts'
import { createWorkerClient } from './worker-client.ts'
import { runWorker } from './worker-loop.ts'

const port = parentPort
if (port === null) throw new Error('trainer-entry.ts must be started as a worker thread')
const { baseUrl, token, modelPath, ...names } = workerData as TrainerThreadOptions
const tell = (message: FromTrainer): void => port.postMessage(message)
const stop = new AbortController()
// The only message that the server's thread sends.
port.once('message', () => stop.abort())

await runWorker({
  client: createWorkerClient(baseUrl, token),
  ...names,
  openTrainer: () => createJobTrainer(loadModel(readFileSync(modelPath)), names.baseModel),
  signal: stop.signal,
  log: (entry) => tell({ type: 'log', entry }),
  onLease: (lease) => tell({ type: 'lease', lease }),
})
// Idle keep-alive connections would keep the thread from ending.
process.exit(0)
