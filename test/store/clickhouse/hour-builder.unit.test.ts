import { describe, expect, it } from 'vitest'
import type { ClickHouse, Row } from '../../../src/store/clickhouse/db/client.ts'
import { createHourBuilder } from '../../../src/store/clickhouse/hours/hour-builder.ts'
import { rangesOf } from '../../../src/store/clickhouse/hours/hour-plan.ts'
import { buildHours } from '../../../src/store/clickhouse/hours/hours.sql.ts'

/** A builder of one hour of each project; those that are broken fail, and the built ones have no hour to build. */
function openBuilder(broken: Set<string>, isBuilt = new Set<string>()) {
  const built: string[] = []
  const tried: unknown[] = []
  const reported: (readonly [string, string | null])[] = []
  const clock = { ms: 0 }
  const lists = { ofAll: 0, failed: 0 }
  const db: Pick<ClickHouse, 'read' | 'remove' | 'insert'> = {
    async read<Found>(sql: string, { skipped }: Readonly<Record<string, unknown>>) {
      if (sql.includes('min(builder)')) return [{ builder: names[0] }] as Found[]
      if (!sql.includes('FROM hour_changes')) return []
      if (broken.has('the list')) {
        lists.failed += 1
        throw new Error('connection')
      }
      if (!sql.includes('INTERVAL 1 HOUR')) lists.ofAll += 1
      const isTried = (project_id: string) =>
        !isBuilt.has(project_id) && !(skipped as string[]).includes(project_id)
      const projects = ['acme/broken', 'acme/demo'].filter(isTried)
      return projects.map((project_id) => ({ project_id, hour: 3 })) as Found[]
    },
    async remove(_sql, { project_id }) {
      tried.push(project_id)
      if (broken.has(project_id as string)) throw new Error('memory')
    },
    async insert(table, rows: readonly Row[]) {
      if (table === 'hour_builders') names.splice(0, 1, rows[0]?.builder)
      else built.push(...rows.map((row) => row.project_id as string))
    },
  }
  const names: unknown[] = []
  const builder = createHourBuilder(db as ClickHouse, {
    nextVersion: () => 1,
    isAutomatic: false,
    onFailure: (error, project_id) => reported.push([(error as Error).message, project_id]),
    now: () => clock.ms,
  })
  const triedOf = (project_id: string) => tried.filter((one) => one === project_id).length
  return { builder, built, reported, clock, lists, triedOf }
}

describe('the builder of hours', () => {
  it('builds the other projects when one cannot be built, and reports its failure', async () => {
    const { builder, built } = openBuilder(new Set(['acme/broken']))
    await expect(builder.buildAll()).rejects.toThrow('memory')
    expect(built).toEqual(['acme/demo'])
  })

  it('reports the first failure of a project and tries it again after ever longer waits', async () => {
    const broken = new Set(['acme/broken'])
    const { builder, built, reported, clock, triedOf } = openBuilder(broken)
    const pollUntil = async (ms: number) => {
      for (; clock.ms < ms; clock.ms += 15_000) await builder.poll()
    }
    await pollUntil(2_400_000)
    expect(reported).toEqual([['memory', 'acme/broken']])
    // At 0, 30, 90, 210, 450 and 930 seconds, and then every ten minutes.
    expect(triedOf('acme/broken')).toBe(8)
    expect(built).toHaveLength(160)
    broken.clear()
    await pollUntil(3_000_000)
    expect(built).toContain('acme/broken')
    broken.add('acme/broken')
    await pollUntil(3_015_000)
    expect(reported).toHaveLength(2)
  })

  it('lists all hours once an hour again when what could not be built needs no building any more', async () => {
    const isBuilt = new Set<string>()
    const { builder, clock, lists } = openBuilder(new Set(['acme/broken']), isBuilt)
    await builder.poll()
    isBuilt.add('acme/broken')
    for (; clock.ms < 3_600_000; clock.ms += 15_000) await builder.poll()
    // At the start, and when the project was tried again.
    expect(lists.ofAll).toBe(2)
  })

  it('reports that hours cannot be listed once, and lists them again later', async () => {
    const broken = new Set(['the list'])
    const { builder, built, reported, clock, lists } = openBuilder(broken)
    for (; clock.ms < 90_000; clock.ms += 15_000) await builder.poll()
    expect(reported).toEqual([['connection', null]])
    // At the start and after 30 seconds.
    expect(lists.failed).toBe(2)
    broken.clear()
    for (; clock.ms < 120_000; clock.ms += 15_000) await builder.poll()
    expect(built).toContain('acme/demo')
  })

  it('reads the rows of each hour alone, however far apart the hours are', () => {
    const sql = buildHours(false, rangesOf([2, 500_000, 3]))
    expect(sql).toContain('started_at_us >= 7200000000 AND started_at_us < 14400000000')
    expect(sql).toContain('started_at_us >= 1800000000000000 AND started_at_us < 1800003600000000')
  })
})
