/** The contract of the store of a project's own prices. */
import type { ProjectPrice } from '../../../domain/prices/project-prices.ts'

export interface PriceStore {
  /**
   * Stores prices, all or none. Resolves only after they are durable; every later pricing uses them.
   *
   * @throws ApiError validation_failed for more than PRICES_PER_PROJECT_MAX in the project,
   * server_overloaded, store_unavailable
   */
  createPrices(prices: readonly ProjectPrice[]): Promise<void>
  /** All prices of a project, in the order in which they were stored. @throws ApiError store_unavailable */
  listPrices(projectId: string): Promise<ProjectPrice[]>
  /**
   * Removes the prices with these ids; ids unknown in the project are ignored. Resolves only after the change is
   * durable.
   *
   * @throws ApiError server_overloaded, store_unavailable
   */
  purgePrices(projectId: string, ids: readonly string[]): Promise<void>
}
