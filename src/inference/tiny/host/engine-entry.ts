/**
 * The model's process: loads the file, then runs the requests of the server step by step. It reads its messages between
 * two steps, so that a cancelled request stops at once.
 */
import { readFileSync, statSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { ApiError } from '../../../errors.ts'
import { createConstraintThreads } from '../constraints/constraint-threads.ts'
import { AdapterFileError } from '../lora/adapter.ts'
import { ModelFileError } from '../model/gguf.ts'
import { createEngine, type Engine } from './engine.ts'
import type { EngineOptions, FromEngine, ToEngine } from './engine-messages.ts'
import { createWork, type EnginePlan } from './engine-work.ts'
import { createOutbox } from './outbox.ts'
import { type Begun, createScheduler } from './scheduler.ts'

/** Limit: one process is too slow for more, and all weights are held as floats. */
const MODEL_BYTES_MAX = 268_435_456
/** Limit: 256 MB for a grammar; a large one takes a tenth of it. */
const GRAMMAR_PAGES_MAX = 4_096
/** Limit: adapted engines that are cached; each has the weights once more. */
const ADAPTED_MAX = 4
const send = (messages: readonly FromEngine[]): void => void process.send?.(messages)
try {
  run()
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  process.send?.([{ type: 'unloadable', reason }] satisfies FromEngine[], () => process.exit(1))
}

function run(): void {
  const [, , text] = process.argv
  if (text === undefined) throw new Error('engine-entry.ts must be started by the server')
  const { modelPath, hazardCpuMsMax, requestCpuMsMax } = JSON.parse(text) as EngineOptions
  // Without its server the process has no work.
  process.on('disconnect', () => process.exit())
  if (statSync(modelPath).size > MODEL_BYTES_MAX) {
    throw new ModelFileError(`the model file is larger than ${MODEL_BYTES_MAX} bytes`)
  }
  const base = createEngine(readFileSync(modelPath), (vocabulary) =>
    createConstraintThreads(vocabulary, hazardCpuMsMax),
  )
  const engineOf = createEngineCache(base)
  const outbox = createOutbox(send, () => performance.now())
  const begin = (plan: EnginePlan, owner: string): Begun => {
    const engine = engineOf(plan.adapterPath)
    return { generation: createWork(engine, plan, owner), transformer: engine.transformer }
  }
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
  const wake = (): void => {
    if (isAwake) return
    isAwake = true
    setImmediate(step)
  }
  const scheduler = createScheduler(begin, outbox.post, {
    onReady: wake,
    readCpuMs,
    requestCpuMsMax,
  })
  // Not on the command line, where it makes V8 refuse the compiled code of Node's library: a start would take longer.
  process.once('message', () => setFlagsFromString(`--wasm-max-mem-pages=${GRAMMAR_PAGES_MAX}`))
  process.on('message', (message) => {
    scheduler.receive(message as ToEngine)
    wake()
  })
  send([{ type: 'ready' }])
  // Node would do it at the end of the process, but this one is killed.
  flushCompileCache()
}

/** Processor time of the thread that computes the model. */
function readCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/**
 * The base model and recently used checkpoints. An evicted engine lives until its running requests are done.
 *
 * @returns the engine of an adapter's file, whose content must never change; the base for null. Throws ApiError
 * model_not_found when the file is gone, checkpoint_unusable when it is no adapter of the model, with the reason, since
 * the file may come from anybody's worker
 */
function createEngineCache(base: Engine): (adapterPath: string | null) => Engine {
  /** By path, the least recently used first. */
  const adapted = new Map<string, Engine>()
  return (path) => {
    if (path === null) return base
    const engine = adapted.get(path) ?? adapt(base, readArtifactFile(path))
    adapted.delete(path)
    adapted.set(path, engine)
    const [oldest] = adapted.keys()
    if (adapted.size > ADAPTED_MAX && oldest !== undefined) adapted.delete(oldest)
    return engine
  }
}

function adapt(base: Engine, artifact: Uint8Array): Engine {
  try {
    return base.adapt(artifact)
  } catch (error) {
    if (error instanceof AdapterFileError) throw unusable(error.message)
    throw error
  }
}

function unusable(reason: string): ApiError {
  const message = `The weights of the checkpoint cannot be served: ${reason}.`
  return new ApiError('checkpoint_unusable', { param: 'model', message })
}

function readArtifactFile(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new ApiError('model_not_found', { param: 'model', cause })
  }
}
