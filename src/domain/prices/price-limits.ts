/** Apart from the prices of the package, which are megabytes that the writer need not load. */

/** Limit: prices of a project; all are read to answer a query. */
export const PRICES_PER_PROJECT_MAX = 10_000
