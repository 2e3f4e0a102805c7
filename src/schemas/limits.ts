/** Limits and names that schemas and stores share. Without Zod, which the threads of the store need not load. */

/** Limit: queues of one response; also of a project. */
export const QUEUES_LIMIT_MAX = 10_000

/** Limit: items of one response; also the default. */
export const ITEMS_LIMIT_MAX = 10_000

/** Spec: §8. */
export const SAMPLE_LIMIT_DEFAULT = 2000

/** Limit: nesting of one expression. */
export const QUERY_DEPTH_MAX = 32

/** Limit: operations and operands of one expression. */
export const QUERY_NODES_MAX = 1000

/** Limit: rows of one response. */
export const ROWS_MAX = 10_000

/** Name of the field that requests the number of rows instead of the rows. */
export const COUNT_FIELD = 'count(*)'

/** Default: ranges of a number in statistics of spans. */
export const NUMBER_BUCKETS = 24

/** Limit: milliseconds of one score. */
export const SCORER_TIMEOUT_MS_MAX = 600_000
