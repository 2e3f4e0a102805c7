import { describe, expect, it, onTestFinished } from 'vitest'
import { type CopyOptions, copyProject } from '../../../src/store/copy/copy-project.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { endOf, startOf } from '../calls/call-store-contract.ts'
import { hasClickHouse } from './clickhouse-server.ts'
import { openTestStores } from './open-clickhouse.ts'

const project_id = 'acme/demo'

/** Calls with all fields, a name, refs and usage; one runs, one was deleted, one has no start. */
async function openFilled() {
  const store = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 1000 })
  onTestFinished(() => store.close())
  const inputs = { ref: 'weave:///acme/demo/object/o:1', text: 'é "x" \\ 1.10' }
  const ids = { thread_id: 't', turn_id: 'turn', parent_id: 'p', svc_run_id: 'r', svc_run_step: 3 }
  const summary = { usage: { m: { requests: 1, prompt_tokens: 9 } } }
  await store.calls.writeParts([
    { start: startOf({ id: 'whole', inputs, ...ids }), end: endOf({ id: 'whole', summary }) },
    { start: startOf({ id: 'running', otel_dump: { a: 1 } }), end: null },
    { start: startOf({ id: 'gone' }), end: null },
    { start: null, end: endOf({ id: 'early' }) },
  ])
  await store.calls.renameCall({ project_id, id: 'whole', display_name: 'mine' })
  await store.calls.deleteCalls({ project_id, ids: ['gone'], deleted_at_us: 1 })
  return store
}

describe.skipIf(!hasClickHouse)('a copy of a project in ClickHouse', () => {
  it('has the same calls, is told as it goes on, and can be made again', async () => {
    const [from, to] = [await openFilled(), await openTestStores()]
    const told: unknown[] = []
    const onProgress: CopyOptions['onProgress'] = (...step) => void told.push(step)
    const options = { project_id, refScheme: 'weave', onProgress }
    const first = await copyProject(from, to, options)
    expect(first.calls).toBe(2)
    expect(told).toEqual([
      ['copied', 2, 2],
      ['compared', 2, 2],
    ])
    const copied = await to.calls.findCall(project_id, 'whole')
    expect(copied).toEqual(await from.calls.findCall(project_id, 'whole'))
    await expect(copyProject(from, to, options)).resolves.toEqual(first)
  })

  it('differs where a call has another name, which its checksum tells', async () => {
    const [from, to] = [await openFilled(), await openTestStores()]
    const options = { project_id, refScheme: 'weave', onProgress: () => undefined }
    await copyProject(from, to, options)
    await to.calls.renameCall({ project_id, id: 'whole', display_name: 'your' })
    await expect(copyProject(from, to, options)).rejects.toThrow(/^checksum differ: /)
  })

  it('is refused where another call has the id, or calls are there that were not copied', async () => {
    const [from, to] = [await openFilled(), await openTestStores()]
    const options = { project_id, refScheme: 'weave', onProgress: () => undefined }
    await to.calls.startCall(startOf({ id: 'running', op_name: 'other' }))
    await expect(copyProject(from, to, options)).rejects.toThrow(/^call running exists with/)
    await to.calls.deleteCalls({ project_id, ids: ['running'], deleted_at_us: 1 })
    const empty = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 10 })
    onTestFinished(() => empty.close())
    await expect(copyProject(empty, to, options)).rejects.toThrow(/^calls differ: 0 were read, 1/)
  })
})
