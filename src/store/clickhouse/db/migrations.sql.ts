/** Statements over the applied migrations; the newest one also shows that ClickHouse responds. */

/** The table that records them; the same placeholders as in migrations/clickhouse. */
export const CREATE_MIGRATIONS = `
CREATE TABLE IF NOT EXISTS weft_migrations{on_cluster} (
  version UInt32,
  name String,
  checksum String
)
ENGINE = {replicated}ReplacingMergeTree
ORDER BY version
`

/** The applied migrations, in order. */
export const SELECT_MIGRATIONS = `
SELECT DISTINCT
  version,
  name,
  checksum
FROM weft_migrations
ORDER BY version
`

export const READ_NEWEST = `
SELECT max(version) AS version
FROM weft_migrations
`
