/** Checks whether ClickHouse answers. */
export const READ_NEWEST = `
SELECT max(version) AS version
FROM weft_migrations
`
