/** Rows that are total over the named fields of a request: a new field does not compile without one. */

/** For each field values that pass, and one that is refused. */
export type RowsOf<R> = Required<{
  readonly [K in keyof R as string extends K ? never : K]: readonly [unknown[], unknown]
}>
