/**
 * The engines of a thread: the model as it is, and the checkpoints that were asked for last. One that is
 * put away lives on until the answers that it has begun are done.
 */
import { readFileSync, statSync } from 'node:fs'
import { ApiError } from '../../errors.ts'
import type { Engine } from './engine.ts'

/** Limit: adapted engines that are kept; each holds the weights once more, and prompts that it has read. */
const ADAPTED_MAX = 4
/** Limit: a file that is larger belongs to no model that this engine can run. */
const ARTIFACT_BYTES_MAX = 268_435_456

export interface EngineShelf {
  /**
   * The engine of an adapter's file, whose content must never change; the base for null.
   *
   * @throws ApiError model_not_found when the file is gone; AdapterFileError when it cannot be used
   */
  take(adapterPath: string | null): Engine
}

export function createEngineShelf(base: Engine): EngineShelf {
  /** By path, the one that was taken longest ago first. */
  const adapted = new Map<string, Engine>()
  return {
    take(path) {
      if (path === null) return base
      const engine = adapted.get(path) ?? base.adapt(readArtifactFile(path))
      adapted.delete(path)
      adapted.set(path, engine)
      const [oldest] = adapted.keys()
      if (adapted.size > ADAPTED_MAX && oldest !== undefined) adapted.delete(oldest)
      return engine
    },
  }
}

function readArtifactFile(path: string): Uint8Array {
  try {
    if (statSync(path).size <= ARTIFACT_BYTES_MAX) return readFileSync(path)
  } catch (cause) {
    throw new ApiError('model_not_found', { param: 'model', cause })
  }
  throw new ApiError('internal_error', { cause: new Error('the checkpoint is too large') })
}
