/**
 * The model's process: loads the file, then runs the requests of the server step by step. It reads its messages between
 * two steps, so that a cancelled request stops at once.
 */
import { readFileSync, statSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { ModelFileError } from '../model/gguf.ts'
import { createEngine } from './engine.ts'
import type { EngineOptions, FromEngine, ToEngine } from './engine-messages.ts'
import { createEngineShelf } from './engine-shelf.ts'
import { createWork, type EnginePlan } from './engine-work.ts'
import { createOutbox } from './outbox.ts'
import { type Begun, createScheduler } from './scheduler.ts'
import type { WatchdogOptions } from './watchdog-entry.ts'

/** Limit: one process is too slow for more, and all weights are held as floats. */
const MODEL_BYTES_MAX = 268_435_456
/** Limit: 256 MB for a grammar; a large one takes a tenth of it. */
const GRAMMAR_PAGES_MAX = 4_096
/** Limit: what a thread that only waits needs, with room to load its script. */
const WATCH_HEAP_MB_MAX = 16

const send = (messages: readonly FromEngine[]): void => void process.send?.(messages)
try {
  run()
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  process.send?.([{ type: 'unloadable', reason }] satisfies FromEngine[], () => process.exit(1))
}

function run(): void {
  const [, , text, parentPid] = process.argv
  if (text === undefined) throw new Error('engine-entry.ts must be started by the server')
  const options = JSON.parse(text) as EngineOptions
  const { modelPath, hazardCpuMsMax, requestCpuMsMax } = options
  // Without its server the process has no work.
  process.on('disconnect', () => process.exit())
  const watchHazard = startWatchdog(Number(parentPid), hazardCpuMsMax)
  if (statSync(modelPath).size > MODEL_BYTES_MAX) {
    throw new ModelFileError(`the model file is larger than ${MODEL_BYTES_MAX} bytes`)
  }
  const shelf = createEngineShelf(createEngine(readFileSync(modelPath)))
  const outbox = createOutbox(send, () => performance.now())
  const begin = (plan: EnginePlan): Begun => {
    const engine = shelf.take(plan.adapterPath)
    return { generation: createWork(engine, plan), transformer: engine.transformer }
  }
  const scheduler = createScheduler(begin, outbox.post, {
    watchHazard,
    readCpuMs,
    requestCpuMsMax,
  })
  let isAwake = false
  // setImmediate lets the messages in between two steps.
  const step = (): void => {
    isAwake = scheduler.step()
    if (isAwake) {
      outbox.flush()
      setImmediate(step)
    } else {
      outbox.flushAll()
    }
  }
  // Not on the command line, where it makes V8 refuse the compiled code of Node's library: a start would take longer.
  process.once('message', () => setFlagsFromString(`--wasm-max-mem-pages=${GRAMMAR_PAGES_MAX}`))
  process.on('message', (message) => {
    scheduler.receive(message as ToEngine)
    if (isAwake) return
    isAwake = true
    setImmediate(step)
  })
  send([{ type: 'ready' }])
  // Node would do it at the end of the process, but this one is killed.
  flushCompileCache()
}

/** Starts the watchdog. @returns a function to call with true when limited work begins, and with false when it ends */
function startWatchdog(parentPid: number, stretchCpuMsMax: number): (isHazard: boolean) => void {
  const stretch = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData: WatchdogOptions = { parentPid, stretch, stretchCpuMsMax }
  new Worker(new URL('./watchdog-entry.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: WATCH_HEAP_MB_MAX },
  }).unref()
  let last = 0
  return (isHazard) => {
    if (!isHazard) Atomics.store(stretch, 0, 0)
    else if (Atomics.load(stretch, 0) === 0) Atomics.store(stretch, 0, ++last)
  }
}

function readCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
