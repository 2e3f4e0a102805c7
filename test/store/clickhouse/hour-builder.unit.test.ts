import { describe, expect, it } from 'vitest'
import type { ClickHouse, Row } from '../../../src/store/clickhouse/db/client.ts'
import { createHourBuilder } from '../../../src/store/clickhouse/hours/hour-builder.ts'
import { buildHours } from '../../../src/store/clickhouse/hours/hours.sql.ts'

describe('the builder of hours', () => {
  it('builds the other projects when one cannot be built, and reports its failure', async () => {
    const unbuilt = ['acme/broken', 'acme/demo'].map((project_id) => ({ project_id, hour: 3 }))
    const built: Row[] = []
    const db: Pick<ClickHouse, 'read' | 'remove' | 'insert'> = {
      read: async <Found>(sql: string) =>
        (sql.includes('FROM hour_changes') ? unbuilt : []) as Found[],
      remove: async (_sql, { project_id }) => {
        if (project_id === 'acme/broken') throw new Error('memory')
      },
      insert: async (_table, rows) => void built.push(...rows),
    }
    const builder = createHourBuilder(db as ClickHouse, () => 1, false)
    await expect(builder.buildAll()).rejects.toThrow('memory')
    expect(built).toMatchObject([{ project_id: 'acme/demo', hour: 3 }])
  })

  it('reads the rows of each hour alone, however far apart the hours are', () => {
    const sql = buildHours(false, [2, 500_000])
    expect(sql).toContain('started_at_us >= 7200000000 AND started_at_us < 10800000000')
    expect(sql).toContain('started_at_us >= 1800000000000000 AND started_at_us < 1800003600000000')
  })
})
