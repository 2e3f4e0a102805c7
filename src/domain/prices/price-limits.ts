/** Separate from the price data of the package, so that the writer does not load its megabytes. */

/** Limit: prices of a project; all are read to answer a query. */
export const PRICES_PER_PROJECT_MAX = 10_000
