/** Names a model together with its provider, since their prices differ; results merge the providers of a model. Pure. */

interface ServedModel {
  readonly model: string
  /** null: not known. */
  readonly provider: string | null
}

/** Lies between model and provider; names of providers do not contain it. */
const SEPARATOR = '\0'

/** Returns the key of a model and its provider: the model's name where no provider is known. */
export function servedKey({ model, provider }: ServedModel): string {
  if (provider === null && !model.includes(SEPARATOR)) return model
  return `${model}${SEPARATOR}${provider ?? ''}`
}

export function readServedKey(key: string): ServedModel {
  const at = key.lastIndexOf(SEPARATOR)
  if (at === -1) return { model: key, provider: null }
  return { model: key.slice(0, at), provider: key.slice(at + 1) || null }
}
