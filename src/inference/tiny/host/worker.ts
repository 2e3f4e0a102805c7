/**
 * The model's thread or process: loads the file, then steps through what the server's thread asks for.
 * Between two steps it reads its messages, so that a cancelled request stops at once.
 */
import { readFileSync, statSync } from 'node:fs'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { ModelFileError } from '../model/gguf.ts'
import { createGeneration } from '../sampling/generation.ts'
import { createEngine } from './engine.ts'
import { createEngineShelf } from './engine-shelf.ts'
import { createOutbox } from './outbox.ts'
import { createScheduler } from './scheduler.ts'
import type { FromWorker, ToWorker, WorkerOptions } from './worker-messages.ts'

/** Limit: one thread is too slow for more, and all weights are held as floats. */
const MODEL_BYTES_MAX = 268_435_456
/** Limit: what a thread that only waits needs, with room to load its script. */
const WATCH_HEAP_MB_MAX = 16

run()

function run(): void {
  const host = findHost()
  const { modelPath, contextTokensMax } = host.options
  if (statSync(modelPath).size > MODEL_BYTES_MAX) {
    throw new ModelFileError(`the model file is larger than ${MODEL_BYTES_MAX} bytes`)
  }
  const shelf = createEngineShelf(
    createEngine(readFileSync(modelPath), contextTokensMax ?? undefined),
  )
  const outbox = createOutbox(host.send, () => performance.now())
  const scheduler = createScheduler((plan) => {
    const engine = shelf.take(plan.adapterPath)
    return { generation: createGeneration(engine, plan), transformer: engine.transformer }
  }, outbox.post)
  let isAwake = false
  // setImmediate lets the messages in between two steps.
  const turn = (): void => {
    isAwake = scheduler.step()
    if (isAwake) {
      outbox.flush()
      setImmediate(turn)
    } else {
      outbox.flushAll()
    }
  }
  host.listen((message) => {
    scheduler.receive(message)
    if (isAwake) return
    isAwake = true
    setImmediate(turn)
  })
  host.send([{ type: 'ready' }])
}

interface Host {
  readonly options: WorkerOptions
  readonly send: (messages: readonly FromWorker[]) => void
  readonly listen: (receive: (message: ToWorker) => void) => void
}

/** The thread's or the process's way to the server. */
function findHost(): Host {
  const port = parentPort
  if (port !== null) {
    return {
      options: workerData as WorkerOptions,
      send: (messages) => port.postMessage(messages),
      listen: (receive) => port.on('message', receive),
    }
  }
  const [, , options, parentPid] = process.argv
  if (process.send === undefined || options === undefined) {
    throw new Error('worker.ts must be started as a worker thread or a child process')
  }
  // A server that is gone leaves nobody to work for; the thread sees it even from inside of a loop.
  process.on('disconnect', () => process.exit())
  new Worker(new URL('./parent-watch-worker.ts', import.meta.url), {
    workerData: { parentPid: Number(parentPid) },
    resourceLimits: { maxOldGenerationSizeMb: WATCH_HEAP_MB_MAX },
  }).unref()
  return {
    options: JSON.parse(options) as WorkerOptions,
    send: (messages) => process.send?.(messages),
    listen: (receive) => process.on('message', (message) => receive(message as ToWorker)),
  }
}
