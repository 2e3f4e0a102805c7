import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import type { Stores } from '../../../src/store/api/stores.ts'
import { readCaller } from '../../support/read-caller.ts'
import { endOf, startOf } from '../calls/call-store-contract.ts'
import {
  type Fault,
  hasFaults,
  makeDatabase,
  readFaultCount,
  setFaults,
} from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const PROJECT = 'acme/demo'
const INSERT = 'INSERT INTO'

async function openWithFaults(faults: readonly Fault[], fields = {}) {
  // Writes that failed may still come, so that no other test gets this database.
  const stores = await openTestStores({ url: await makeDatabase(), ...fields })
  onTestFinished(() => setFaults([]))
  await setFaults(faults)
  return stores
}

function count({ callsQuery }: Stores) {
  return callsQuery.count(resolveCallsSelection({ project_id: PROJECT }), readCaller())
}

/** Starts a call as a client does: sent again while the store says that it is away. */
async function startUntilTaken({ calls }: Stores, id: string) {
  await expect
    .poll(() => calls.startCall(startOf({ id })).then(() => 'taken', String))
    .toBe('taken')
}

describe.skipIf(!hasFaults)('calls in a ClickHouse that fails', () => {
  it.each([
    { kind: 'refuse', matching: INSERT, count: 3 },
    { kind: 'reset', matching: INSERT, count: 3 },
    { kind: 'proxy', matching: INSERT, count: 3 },
    { kind: 'lose_answer', matching: 'INSERT INTO call_ids', count: 2 },
    { kind: 'lose_answer', matching: 'INSERT INTO calls', count: 2 },
  ] as const)('are stored once for $kind of $matching', async (fault) => {
    const stores = await openWithFaults([fault])
    await Promise.all([
      stores.calls.writeParts([{ start: startOf({ id: 'a' }), end: endOf({ id: 'a' }) }]),
      stores.calls.startCall(startOf({ id: 'b' })),
    ])
    await expect(count(stores)).resolves.toMatchObject({ count: 2 })
    await expect(stores.calls.findCall(PROJECT, 'a')).resolves.toMatchObject({ output: null })
    const { elsewhere } = await stores.readMetrics()
    expect(elsewhere).toContainEqual({ store: 'clickhouse', faults: fault.count })
  })

  it('are stored once when the answer to an insert comes too late', async () => {
    const slow = { kind: 'slow', matching: 'INSERT INTO calls', count: 1, delayMs: 1000 } as const
    const stores = await openWithFaults([slow], { writeTimeoutMs: 700 })
    await stores.calls.startCall(startOf())
    // A late insert that is still to come may change nothing either.
    await new Promise((resolve) => setTimeout(resolve, 600))
    await expect(count(stores)).resolves.toMatchObject({ count: 1 })
  })

  it('are refused with 503 while it is away, and taken when it is back', async () => {
    const away = { kind: 'reset', matching: '', count: -1 } as const
    const stores = await openWithFaults([away], { writeWaitMs: 300 })
    const refused = { code: 'store_unavailable', retryAfterS: 5 }
    await expect(stores.calls.startCall(startOf())).rejects.toMatchObject(refused)
    await expect(stores.calls.findCall(PROJECT, 'call-1')).rejects.toMatchObject(refused)
    const { failing } = await stores.checkStore()
    expect(failing.join()).toContain('ClickHouse does not answer')
    await setFaults([])
    await startUntilTaken(stores, 'call-1')
    await expect(count(stores)).resolves.toMatchObject({ count: 1 })
  })

  it('wait in a bounded queue while an insert hangs, and get Retry-After', async () => {
    const stuck = { kind: 'reset', matching: INSERT, count: 1000 } as const
    const stores = await openWithFaults([stuck], { writeWaitMs: 2000, ingestQueueMax: 2 })
    const first = stores.calls.startCall(startOf({ id: 'first' })).catch((error) => error)
    // The first is taken into its batch before the others come.
    await expect.poll(readFaultCount).toBeLessThan(1000)
    const others = ['a', 'b', 'c'].map((id) => stores.calls.startCall(startOf({ id })))
    const results = await Promise.allSettled(others)
    const codes = results.map((one) => one.status === 'rejected' && one.reason.code)
    expect(codes).toEqual(['store_unavailable', 'store_unavailable', 'server_overloaded'])
    expect(await first).toMatchObject({ code: 'store_unavailable' })
    await setFaults([])
    // What was told that it may be stored or not is sent again.
    for (const id of ['first', 'a', 'b', 'c']) await startUntilTaken(stores, id)
    await expect(count(stores)).resolves.toMatchObject({ count: 4 })
  })

  it('are not listed before they can be found by their id', async () => {
    const stuck = { kind: 'reset', matching: 'INSERT INTO call_ids', count: -1 } as const
    const stores = await openWithFaults([stuck], { writeWaitMs: 300 })
    const refused = { code: 'store_unavailable' }
    await expect(stores.calls.startCall(startOf({ id: 'a' }))).rejects.toMatchObject(refused)
    await expect(count(stores)).resolves.toMatchObject({ count: 0 })
    await setFaults([])
    await startUntilTaken(stores, 'a')
    await expect(count(stores)).resolves.toMatchObject({ count: 1 })
  })

  it('wait with a bounded number of bytes', async () => {
    const stuck = { kind: 'reset', matching: INSERT, count: 1000 } as const
    const limits = { writeWaitMs: 2000, ingestQueueBytesMax: 20_000 }
    const { calls } = await openWithFaults([stuck], limits)
    const codeOf = (id: string, text: string) =>
      calls.startCall(startOf({ id, inputs: { text } })).then(
        () => 'taken',
        ({ code }) => code,
      )
    const first = codeOf('first', 'x'.repeat(20_000))
    await expect.poll(readFaultCount).toBeLessThan(1000)
    const others = ['a', 'b', 'c'].map((id) => codeOf(id, 'x'.repeat(9000)))
    const codes = await Promise.all([first, ...others])
    // What is being written counts, too; one write alone is always taken.
    expect(codes).toEqual([
      ...['store_unavailable', 'store_unavailable'],
      ...['server_overloaded', 'server_overloaded'],
    ])
  })

  it('are told to come again when the process stops before their insert has ended', async () => {
    const stuck = { kind: 'reset', matching: INSERT, count: 1000 } as const
    const stores = await openWithFaults([stuck], { closeMs: 100 })
    const running = stores.calls.startCall(startOf({ id: 'a' })).catch((error) => error)
    await expect.poll(readFaultCount).toBeLessThan(1000)
    const waiting = stores.calls.startCall(startOf({ id: 'b' })).catch((error) => error)
    await stores.close()
    expect(await running).toMatchObject({ code: 'store_unavailable' })
    expect(await waiting).toMatchObject({ code: 'store_unavailable' })
    await expect(stores.calls.startCall(startOf({ id: 'c' }))).rejects.toMatchObject({
      code: 'server_draining',
    })
  })

  it('are read no more when the client leaves, which gives its place to the next', async () => {
    const slow = {
      kind: 'slow',
      matching: 'sum\\(has_start\\)',
      count: 1,
      delayMs: 60_000,
    } as const
    const { callsQuery } = await openWithFaults([slow], { readsMax: 1 })
    const client = new AbortController()
    const selection = resolveCallsSelection({ project_id: PROJECT })
    const left = callsQuery.count(selection, { ...readCaller(), signal: client.signal })
    await expect.poll(readFaultCount).toBe(0)
    const next = callsQuery.count(selection, readCaller())
    client.abort()
    await expect(left).rejects.toMatchObject({ code: 'client_closed_request' })
    await expect(next).resolves.toMatchObject({ count: 0 })
  })

  it('are there for another process, which takes the same again and refuses another', async () => {
    const url = await makeDatabase()
    const [one, other] = [await openTestStores({ url }), await openTestStores({ url })]
    await one.calls.startCall(startOf())
    await other.calls.endCall(endOf())
    await one.calls.endCall(endOf())
    await expect(other.calls.startCall(startOf({ op_name: 'x' }))).rejects.toMatchObject({
      code: 'call_conflict',
    })
    await expect(count(other)).resolves.toMatchObject({ count: 1 })
  })
})
