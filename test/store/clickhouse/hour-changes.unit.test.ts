import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Row } from '../../../src/store/clickhouse/db/client.ts'
import { createHourChanges } from '../../../src/store/clickhouse/hours/hour-changes.ts'

const call = { project_id: 'acme/demo', started_at_us: 3_600_000_000 }

function openChanges() {
  const rows: Row[] = []
  const insert = vi.fn(async (_table: string, more: readonly Row[]) => void rows.push(...more))
  const changes = createHourChanges(insert)
  const begin = async () => {
    const changed = changes.begin([call])
    await changed.record()
    return changed
  }
  return { rows, insert, changes, begin }
}

describe('marks of hours that writes change', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('a mark stands for further writes to its hour until its end is inserted, which waits for all of them', async () => {
    const { rows, changes, begin } = openChanges()
    const first = await begin()
    const second = await begin()
    first.end()
    await changes.flush()
    const { begun } = rows[0] as Row
    expect(rows).toEqual([{ project_id: 'acme/demo', hour: 1, begun }])
    const third = await begin()
    second.end()
    third.end()
    expect(rows).toHaveLength(1)
    await changes.flush()
    expect(rows.slice(1)).toEqual([{ project_id: 'acme/demo', hour: 1, ended: begun }])
    await begin()
    expect(rows).toHaveLength(3)
    expect(rows[2]?.begun).not.toBe(begun)
  })

  it('a mark that waits for its end to be inserted is not ended once another write uses it', async () => {
    const { rows, changes, begin } = openChanges()
    const first = await begin()
    first.end()
    const second = await begin()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(rows).toHaveLength(1)
    second.end()
    await changes.flush()
    expect(rows).toHaveLength(2)
  })

  it('a mark that is not known to be stored, or is older than ten seconds, stands for no other write', async () => {
    const { rows, insert, begin } = openChanges()
    insert.mockRejectedValueOnce(new Error('no answer'))
    await expect(begin()).rejects.toThrow('no answer')
    await begin()
    expect(rows).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(10_000)
    await begin()
    expect(rows).toHaveLength(2)
    await begin()
    expect(rows).toHaveLength(2)
  })

  it('a write that is retried for 20 seconds is recorded by a mark of its own, which ends with it', async () => {
    const { rows, changes, begin } = openChanges()
    const first = await begin()
    await first.renew()
    expect(rows).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(20_000)
    await first.renew()
    expect(rows.map(({ begun }) => begun === undefined)).toEqual([false, false])
    first.end()
    await changes.flush()
    expect(rows.slice(2).map(({ ended }) => ended)).toEqual(
      rows.slice(0, 2).map(({ begun }) => begun),
    )
  })
})
