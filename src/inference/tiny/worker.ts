/**
 * The model's thread: loads the file, then steps through what the server's thread asks for.
 * Between two steps it reads its messages, so that a cancelled request stops at once.
 */
import { readFileSync, statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createEngine } from './engine.ts'
import { createGeneration } from './generation.ts'
import { ModelFileError } from './gguf.ts'
import { createScheduler } from './scheduler.ts'
import type { FromWorker, ToWorker, WorkerOptions } from './worker-messages.ts'

/** Limit: plain TypeScript is too slow for more, and all weights are held as floats. */
const MODEL_BYTES_MAX = 268_435_456

run()

function run(): void {
  const port = parentPort
  if (port === null) throw new Error('worker.ts must be started as a worker thread')
  const { modelPath, contextTokensMax } = workerData as WorkerOptions
  if (statSync(modelPath).size > MODEL_BYTES_MAX) {
    throw new ModelFileError(`the model file is larger than ${MODEL_BYTES_MAX} bytes`)
  }
  const engine = createEngine(readFileSync(modelPath), contextTokensMax ?? undefined)
  const post = (message: FromWorker): void => port.postMessage(message)
  const scheduler = createScheduler(
    (plan) => createGeneration(engine, plan),
    engine.transformer,
    post,
  )
  let isAwake = false
  // setImmediate lets the messages in between two steps.
  const turn = (): void => {
    isAwake = scheduler.step()
    if (isAwake) setImmediate(turn)
  }
  port.on('message', (message: ToWorker) => {
    scheduler.receive(message)
    if (isAwake) return
    isAwake = true
    setImmediate(turn)
  })
  post({ type: 'ready' })
}
