/** Checks whether ClickHouse responds. */
export const READ_NEWEST = `
SELECT max(version) AS version
FROM weft_migrations
`
