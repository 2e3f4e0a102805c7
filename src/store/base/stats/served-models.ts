/** Names a model together with what else decides its price; results merge all of a model. Pure. */
import type { PricedModel } from '../../../domain/usage/usage.ts'

/** Lies between the parts of a key; only names of models may contain it. */
const SEPARATOR = '\0'
const REPORTED = 'r'

/** Returns the key of a model as it was served: its name where nothing else is known. */
export function servedKey(served: PricedModel): string {
  const { model, provider, upstream_model, service_tier, reports_cost } = served
  const others = [provider, upstream_model, service_tier, reports_cost ? REPORTED : null]
  if (others.every((part) => part === null) && !model.includes(SEPARATOR)) return model
  return [model, ...others.map((part) => part ?? '')].join(SEPARATOR)
}

export function readServedKey(key: string): PricedModel {
  const parts = key.split(SEPARATOR)
  const [provider, upstream, tier, reported] = parts.length === 1 ? [] : parts.splice(-4)
  return {
    model: parts.join(SEPARATOR),
    provider: provider || null,
    upstream_model: upstream || null,
    service_tier: tier || null,
    reports_cost: reported === REPORTED,
  }
}
