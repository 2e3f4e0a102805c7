import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import type { CallParts } from '../../../src/domain/calls/new-call.ts'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { readCaller } from '../../support/read-caller.ts'
import { endOf, startOf } from '../calls/call-store-contract.ts'
import { expireAll } from '../support/expire-all.ts'
import { hasClickHouse, makeDatabase } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const project_id = 'acme/demo'
const HOUR_US = 3_600_000_000
const BEFORE_US = Date.UTC(2026, 2, 1) * 1000

function timeAt(hours: number): string {
  return new Date((BEFORE_US + hours * HOUR_US) / 1000).toISOString()
}

/** A call that began some hours from BEFORE_US on, or before it. */
function callAt(hours: number, id: string, fields: object = {}): CallParts {
  const start = startOf({ id, started_at: timeAt(hours), ...fields })
  return { start, end: endOf({ id, ended_at: timeAt(hours), ...fields }) }
}

/** The same of one request, by the id of its response and the call that it names. */
function reportAt(hours: number, id: string, response_id: string, linked_id: string): CallParts {
  const summary = { usage: { m: { prompt_tokens: 5, completion_tokens: 1 } } }
  const { start, end } = callAt(hours, id, { parent_id: 'never', summary })
  return { start: start && { ...start, linked_id }, end: end && { ...end, response_id } }
}

async function openStores() {
  const url = await makeDatabase()
  const stores = await openTestStores({ url })
  const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
  onTestFinished(() => db.close())
  const { signal } = new AbortController()
  const caller = readCaller()
  return {
    ...stores,
    signal,
    expire: (before_us = BEFORE_US) => expireAll(stores.removal, { project_id, before_us }, signal),
    /** Rows of each table that take room, whether they are read or not. */
    async countStored() {
      const tables = ['calls', 'call_ids', 'call_names', 'call_early_ends', 'call_deletions']
      const counted = tables.map(async (table) => {
        const sql = `SELECT count() AS n, countIf(_row_exists = 1) AS live FROM ${table} SETTINGS apply_deleted_mask = 0`
        const [found] = await db.read<{ n: number; live: number }>(sql, {})
        return [table, found?.live, found?.n] as const
      })
      const found = await Promise.all(counted)
      return {
        live: Object.fromEntries(found.map(([table, live]) => [table, live])),
        stored: Object.fromEntries(found.map(([table, , stored]) => [table, stored])),
      }
    },
    async listRequests() {
      const sql = (table: string) => `SELECT DISTINCT id FROM ${table} ORDER BY id`
      const tables = ['call_requests', 'call_doubles', 'call_orphans']
      const found = tables.map((table) => db.read<{ id: string }>(sql(table), {}))
      return (await Promise.all(found)).map((rows) => rows.map(({ id }) => id).join(' '))
    },
    async countCalls(of = project_id) {
      const selection = resolveCallsSelection({ project_id: of })
      return (await stores.callsQuery.count(selection, { ...caller, project_id: of })).count
    },
    listProjects: () => stores.projects.listProjects(caller),
    deleteCalls: (ids: readonly string[]) =>
      stores.calls.deleteCalls({ project_id, ids: [...ids], deleted_at_us: BEFORE_US }),
  }
}

describe.skipIf(!hasClickHouse)('calls removed from ClickHouse', () => {
  it("retention removes the project's calls before the hour, with everything that belongs to them", async () => {
    const stores = await openStores()
    await stores.calls.writeParts([
      callAt(-24 * 70, 'months-ago'),
      callAt(-1, 'an-hour-ago'),
      { start: callAt(-1, 'open').start, end: null },
      callAt(0, 'kept'),
      callAt(-1, 'elsewhere', { project_id: 'acme/other' }),
    ])
    await stores.calls.writeParts([{ start: null, end: callAt(-1, 'open').end }])
    const nameOf = (call_id: string) =>
      stores.calls.renameCall({ project_id, id: call_id, display_name: 'new' } as never)
    await nameOf('an-hour-ago')
    await nameOf('kept')
    await stores.deleteCalls(['months-ago'])
    expect(await stores.expire()).toBe(3)
    expect((await stores.countStored()).live).toEqual({
      calls: 2,
      call_ids: 2,
      call_names: 1,
      call_early_ends: 0,
      call_deletions: 0,
    })
    expect(await stores.calls.findCall(project_id, 'an-hour-ago')).toBeNull()
    expect(await stores.calls.findCall(project_id, 'kept')).toMatchObject({ display_name: 'new' })
    expect(await Promise.all([stores.countCalls(), stores.countCalls('acme/other')])).toEqual([
      1, 1,
    ])
    expect(await stores.expire()).toBe(0)
  })

  it('retention removes ends without a start by their own time', async () => {
    const stores = await openStores()
    const ends = [callAt(-1, 'early'), callAt(-2, 'taken-up'), callAt(1, 'later')]
    await stores.calls.writeParts(ends.map(({ end }) => ({ start: null, end })))
    await stores.calls.writeParts([{ start: callAt(-2, 'taken-up').start, end: null }])
    expect(await stores.expire()).toBe(2)
    expect((await stores.countStored()).live).toMatchObject({ calls: 0, call_early_ends: 1 })
  })

  it('removed calls leave the project in the list, and their ids free for new calls', async () => {
    const stores = await openStores()
    await stores.calls.writeParts([callAt(-1, 'one')])
    expect(await stores.expire()).toBe(1)
    expect(await stores.listProjects()).toEqual([project_id])
    await stores.calls.writeParts([callAt(1, 'one')])
    expect(await stores.countCalls()).toBe(1)
  })

  it('removed calls take their deletion marks with them', async () => {
    const stores = await openStores()
    await stores.calls.writeParts([callAt(-1, 'gone'), callAt(1, 'ahead')])
    await stores.deleteCalls(['gone', 'ahead'])
    await stores.expire()
    expect((await stores.countStored()).live).toMatchObject({ calls: 1, call_deletions: 1 })
    expect(await stores.countCalls()).toBe(0)
    await stores.removal.removeDeleted(stores.signal)
    await stores.expire(BEFORE_US + HOUR_US)
    expect((await stores.countStored()).live).toMatchObject({ calls: 0, call_deletions: 2 })
    await stores.expire(BEFORE_US + 2 * HOUR_US)
    expect((await stores.countStored()).live).toMatchObject({ calls: 0, call_deletions: 0 })
  })

  it('removed calls free their data', async () => {
    const stores = await openStores()
    const many = Array.from({ length: 30 }, (_, at) => callAt(at % 2 === 0 ? -1 : 1, `call-${at}`))
    await stores.calls.writeParts(many)
    await stores.expire()
    expect((await stores.countStored()).stored).toMatchObject({ calls: 30, call_ids: 30 })
    expect(await stores.removal.removeDeleted(stores.signal)).toBe(0)
    expect((await stores.countStored()).stored).toMatchObject({ calls: 15, call_ids: 15 })
    expect(await stores.countCalls()).toBe(15)
  })

  it('removed calls take with them what identifies their requests, also of calls that only they name', async () => {
    const stores = await openStores()
    await stores.calls.writeParts([
      reportAt(-1, 'old', 'chatcmpl-0123456789', 'foreign-1'),
      reportAt(1, 'deleted', 'chatcmpl-0123456789', 'foreign-2'),
      reportAt(1, 'kept', 'chatcmpl-0123456789', 'foreign-3'),
    ])
    const [requests, doubles, orphans] = await stores.listRequests()
    expect(requests).toBe('deleted foreign-1 foreign-2 foreign-3 kept old')
    expect([doubles, orphans]).toEqual([requests, 'deleted kept old'])
    await stores.expire()
    const left = 'deleted foreign-2 foreign-3 kept'
    expect(await stores.listRequests()).toEqual([left, left, 'deleted kept'])
    await stores.deleteCalls(['deleted'])
    await stores.removal.removeDeleted(stores.signal)
    const last = 'foreign-3 kept'
    expect(await stores.listRequests()).toEqual([last, last, 'kept'])
  })

  it('no removal begins when the server stops', async () => {
    const stores = await openStores()
    await stores.calls.writeParts([callAt(-1, 'one')])
    await stores.deleteCalls(['one'])
    const signal = AbortSignal.abort()
    const expiry = { project_id, before_us: BEFORE_US }
    expect(await stores.removal.expireCalls(expiry, signal)).toEqual({ calls: 0, isDone: false })
    expect(await stores.removal.removeDeleted(signal)).toBe(0)
    expect((await stores.countStored()).live).toMatchObject({ calls: 1 })
  })
})

describe.skipIf(!hasClickHouse)('deleted calls in ClickHouse', () => {
  it('deleted calls are freed and remain deleted', async () => {
    const stores = await openStores()
    const other = callAt(1, 'same', { project_id: 'acme/other' })
    await stores.calls.writeParts([callAt(1, 'same'), callAt(1, 'kept'), other])
    await stores.deleteCalls(['same'])
    expect(await stores.removal.removeDeleted(stores.signal)).toBe(1)
    const left = { calls: 2, call_ids: 2 }
    expect((await stores.countStored()).stored).toMatchObject(left)
    expect(await stores.removal.removeDeleted(stores.signal)).toBe(0)
    await stores.calls.writeParts([callAt(1, 'same')])
    expect(await stores.calls.findCall(project_id, 'same')).toBeNull()
    expect(await stores.countCalls()).toBe(1)
    expect(await stores.removal.removeDeleted(stores.signal)).toBe(0)
    expect((await stores.countStored()).live).toMatchObject(left)
  })

  it('deleted calls leave the project in the list', async () => {
    const stores = await openStores()
    await stores.calls.writeParts([callAt(1, 'one')])
    await stores.deleteCalls(['one'])
    await stores.removal.removeDeleted(stores.signal)
    expect(await stores.listProjects()).toEqual([project_id])
  })

  it('deleted calls are freed, whatever the number and length of their ids', async () => {
    const stores = await openStores()
    const ids = Array.from({ length: 600 }, (_, at) => `${at}${'😀'.repeat(120)}`)
    for (let at = 0; at < ids.length; at += 300) {
      const part = ids.slice(at, at + 300)
      await stores.calls.writeParts(part.map((id) => callAt(1, id)))
      await stores.deleteCalls(part)
    }
    expect(await stores.removal.removeDeleted(stores.signal)).toBe(600)
    expect((await stores.countStored()).stored).toMatchObject({ calls: 0, call_ids: 0 })
  })
})
