/** Chooses the fallbacks of a request before any model is asked. */
import type { ModelRegistry, ServedModel } from './registry.ts'

/** Returns the fallbacks of a model that are still served and can answer the request. */
export function listFallbacks(
  model: ServedModel,
  models: ModelRegistry,
  requireAnswerable: (model: ServedModel) => void,
): ServedModel[] {
  return model.fallbacks.flatMap((name) => {
    try {
      const candidate = models.getModel(name)
      requireAnswerable(candidate)
      return [candidate]
    } catch {
      return []
    }
  })
}
