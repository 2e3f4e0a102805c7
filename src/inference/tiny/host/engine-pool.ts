/**
 * The engines of the model's process: the base model and recently used checkpoints. An evicted engine lives until its
 * running answers are done.
 */
import { readFileSync } from 'node:fs'
import { ApiError } from '../../../errors.ts'
import { AdapterFileError } from '../lora/adapter.ts'
import type { Engine } from './engine.ts'

/** Limit: adapted engines that are kept; each holds the weights once more. */
const ADAPTED_MAX = 4

interface EnginePool {
  /**
   * The engine of an adapter's file, whose content must never change; the base for null.
   *
   * @throws ApiError model_not_found when the file is gone, checkpoint_unusable when it is no adapter of the
   * model, with the reason, since the file may come from anybody's worker
   */
  take(adapterPath: string | null): Engine
}

export function createEnginePool(base: Engine): EnginePool {
  /** By path, the one that was taken longest ago first. */
  const adapted = new Map<string, Engine>()
  return {
    take(path) {
      if (path === null) return base
      const engine = adapted.get(path) ?? adapt(base, readArtifactFile(path))
      adapted.delete(path)
      adapted.set(path, engine)
      const [oldest] = adapted.keys()
      if (adapted.size > ADAPTED_MAX && oldest !== undefined) adapted.delete(oldest)
      return engine
    },
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
