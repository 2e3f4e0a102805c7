/** A model as it was served, in columns of rows of ClickHouse. Pure. */
import type { PricedModel } from '../../../domain/usage/usage.ts'

/** A model as it was served, in columns. */
export interface ServedColumns {
  readonly model: string
  /** Empty: not known. */
  readonly provider: string
  readonly upstream_model: string
  readonly service_tier: string
  readonly reports_cost: 0 | 1
}

export function readServed(row: ServedColumns): PricedModel {
  return {
    model: row.model,
    provider: row.provider || null,
    upstream_model: row.upstream_model || null,
    service_tier: row.service_tier || null,
    reports_cost: row.reports_cost === 1,
  }
}
