/** What every CallStore must do, whatever it stores in. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveCallEnd, resolveCallStart } from '../../../src/domain/calls/new-call.ts'
import { packCalls } from '../../../src/domain/calls/packed-calls.ts'
import type { CallStore } from '../../../src/store/api/calls/calls.ts'
import { ENDED, STARTED } from '../../calls/call-fixtures.ts'

const DEFAULTS = { id: 'made', trace_id: 'made-trace', svc_user_id: 'u', svc_username: 'U' }

export function startOf(fields: object = {}) {
  return resolveCallStart({ ...STARTED, id: 'call-1', ...fields }, DEFAULTS, 'weave')
}

export function endOf(fields: object = {}) {
  return resolveCallEnd({ ...ENDED, ...fields }, 'weave')
}

/** @param create - an empty store that closes itself when the test ends */
export function describeCallStoreContract(name: string, create: () => Promise<CallStore>): void {
  describe(`${name} keeps the CallStore contract`, () => {
    it('a started call is returned by its id', async () => {
      const calls = await create()
      const start = startOf({ attributes: { a: [1], user: 'ada' }, thread_id: 't' })
      await expect(calls.startCall(start)).resolves.toEqual({
        id: 'call-1',
        trace_id: 'made-trace',
      })
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toMatchObject({
        op_name: 'predict',
        started_at_us: start.started_at_us,
        ended_at_us: null,
        attributes: { a: [1], user: 'ada' },
        end_user_id: 'ada',
        inputs: STARTED.inputs,
        thread_id: 't',
        summary: {},
        storage_size_bytes: start.start_size_bytes,
      })
    })

    it('no call is found by an unknown id, in another project, or without a start', async () => {
      const calls = await create()
      await calls.startCall(startOf())
      await calls.endCall(endOf({ id: 'early' }))
      await expect(calls.findCall('acme/demo', 'other')).resolves.toBeNull()
      await expect(calls.findCall('acme/other', 'call-1')).resolves.toBeNull()
      await expect(calls.findCall('acme/demo', 'early')).resolves.toBeNull()
    })

    it("every order and repetition of a call's parts stores the same call", async () => {
      const calls = await create()
      async function write(id: string, parts: readonly string[]) {
        const inputs = { ref: 'weave:///a/b/object/o:1' }
        const start = startOf({ id, trace_id: 'trace-1', inputs })
        const summary = { usage: { m: { input_tokens: 1 } } }
        const end = endOf({ id, output: 'weave:///a/b/object/o:2', summary })
        for (const part of parts) {
          await (part === 'start' ? calls.startCall(start) : calls.endCall(end))
        }
        return await calls.findCall('acme/demo', id)
      }
      const expected = await write('call-0', ['start', 'end'])
      const parts = fc.array(fc.constantFrom('start', 'end'), { maxLength: 5 })
      // All at once: a store behind a network takes them in a few statements.
      const orders = fc.array(parts, { minLength: 40, maxLength: 40 })
      let count = 0
      await fc.assert(
        fc.asyncProperty(orders, async (orders) => {
          const made = orders.map((order) => ({ id: `call-${++count}`, order }))
          const written = made.map(({ id, order }) => write(id, [...order, 'start', 'end']))
          expect(await Promise.all(written)).toEqual(made.map(({ id }) => ({ ...expected, id })))
        }),
        { numRuns: 1 },
      )
    })

    it('a repeated start returns the trace_id of the first', async () => {
      const calls = await create()
      await calls.startCall(startOf())
      const again = resolveCallStart(
        { ...STARTED, id: 'call-1' },
        { ...DEFAULTS, trace_id: 'new' },
        'weave',
      )
      await expect(calls.startCall(again)).resolves.toEqual({
        id: 'call-1',
        trace_id: 'made-trace',
      })
    })

    it('a used id with other content is refused and changes nothing', async () => {
      const calls = await create()
      await calls.startCall(startOf())
      await calls.endCall(endOf({ output: 1 }))
      const before = await calls.findCall('acme/demo', 'call-1')
      await expect(calls.startCall(startOf({ op_name: 'x' }))).rejects.toMatchObject({
        code: 'call_conflict',
      })
      await expect(calls.endCall(endOf({ output: 2 }))).rejects.toMatchObject({
        code: 'call_conflict',
      })
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toEqual(before)
    })

    it('a span that was stored while it ran is completed when it comes with its end', async () => {
      const calls = await create()
      const spanOf = (id: string, n: number) => startOf({ id, trace_id: 't', otel_dump: { n } })
      const running = (id: string) => ({ start: spanOf(id, 1), end: null })
      const ended = (id: string) => ({ start: spanOf(id, 2), end: endOf({ id, output: 1 }) })
      const orders = {
        apart: [[running('apart')], [ended('apart')], [running('apart')], [ended('apart')]],
        together: [[running('together'), ended('together'), running('together')]],
        late: [[ended('late')], [running('late')]],
      }
      for (const [id, batches] of Object.entries(orders)) {
        for (const batch of batches) {
          const results = await calls.writeParts(batch)
          expect(results.filter(({ error }) => error)).toEqual([])
        }
        const found = await calls.findCall('acme/demo', id)
        expect(found).toMatchObject({ ended_at_us: endOf().ended_at_us, output: 1 })
      }
    })

    it('concurrent starts of one id are stored once', async () => {
      const calls = await create()
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, at) =>
          calls.startCall(startOf({ op_name: `op-${at % 2}` })),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    })

    it('a batch is stored in order, and a refused part does not affect the others', async () => {
      const calls = await create()
      await calls.startCall(startOf({ id: 'old' }))
      const results = await calls.writeParts([
        { start: startOf({ trace_id: 't' }), end: null },
        { start: startOf({ id: 'old', op_name: 'x' }), end: endOf({ id: 'old' }) },
        { start: null, end: endOf({ output: 1 }) },
        { start: startOf({ id: 'both' }), end: endOf({ id: 'both', output: 2 }) },
      ])
      expect(results).toMatchObject([
        { started: { id: 'call-1', trace_id: 't' } },
        { error: { code: 'call_conflict', param: 'start.id' } },
        { started: null },
        { started: { id: 'both' } },
      ])
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toMatchObject({ output: 1 })
      await expect(calls.findCall('acme/demo', 'both')).resolves.toMatchObject({ output: 2 })
      const old = await calls.findCall('acme/demo', 'old')
      expect(old).toMatchObject({ op_name: 'predict', ended_at_us: null })
    })

    it('a packed batch is stored and counted; refused parts and the first trace of repeats are reported', async () => {
      const calls = await create()
      await calls.startCall(startOf({ id: 'old' }))
      await calls.startCall(startOf({ id: 'repeated' }))
      const packed = packCalls([
        { start: startOf({ id: 'old', op_name: 'x' }), end: endOf({ id: 'old' }) },
        { start: startOf(), end: endOf({ output: 'é€😀' }) },
        { start: { ...startOf({ id: 'repeated' }), trace_id: 'second' }, end: null },
      ])
      const outcome = await calls.writePacked(packed, ['acme/demo'])
      expect(outcome).toMatchObject({ starts: 2, ends: 1 })
      expect(outcome.exceptions).toMatchObject([
        [0, { error: { code: 'call_conflict', param: 'start.id' } }],
        [2, { started: { id: 'repeated', trace_id: 'made-trace' } }],
      ])
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toMatchObject({
        output: 'é€😀',
      })
    })

    it('a name that arrives before the start is stored', async () => {
      const calls = await create()
      const rename = { project_id: 'acme/demo', id: 'call-1', display_name: 'mine' }
      await calls.renameCall(rename)
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toBeNull()
      await calls.writeParts([{ start: startOf({ display_name: 'sent' }), end: endOf() }])
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toMatchObject({
        display_name: 'mine',
      })
      await calls.renameCall({ ...rename, display_name: null })
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toMatchObject({
        display_name: null,
      })
    })

    it('a deletion removes calls with their descendants permanently', async () => {
      const calls = await create()
      await calls.startCall(startOf())
      await calls.startCall(startOf({ id: 'child', parent_id: 'call-1' }))
      await calls.startCall(startOf({ id: 'other' }))
      const deletion = { project_id: 'acme/demo', ids: ['call-1', 'none'], deleted_at_us: 1 }
      expect((await calls.deleteCalls(deletion)).toSorted()).toEqual(['call-1', 'child'])
      await expect(calls.deleteCalls(deletion)).resolves.toEqual([])
      await calls.endCall(endOf())
      await calls.startCall(startOf())
      const others = [
        { start: startOf({ op_name: 'x' }), end: null },
        { start: null, end: endOf({ output: 2 }) },
        { start: startOf({ op_name: 'y' }), end: endOf({ output: 3 }) },
      ]
      const started = { id: 'call-1', trace_id: 'made-trace' }
      await expect(calls.writeParts(others)).resolves.toEqual([
        { started },
        { started: null },
        { started },
      ])
      await expect(calls.findCall('acme/demo', 'call-1')).resolves.toBeNull()
      await expect(calls.findCall('acme/demo', 'child')).resolves.toBeNull()
      await expect(calls.findCall('acme/demo', 'other')).resolves.not.toBeNull()
      const rename = { project_id: 'acme/demo', id: 'child', display_name: 'x' }
      await expect(calls.renameCall(rename)).rejects.toMatchObject({ code: 'call_not_found' })
    })

    it('the deletion of an unknown call deletes nothing', async () => {
      const calls = await create()
      await calls.startCall(startOf({ id: 'child', parent_id: 'none' }))
      const deletion = { project_id: 'acme/demo', ids: ['none'], deleted_at_us: 1 }
      await expect(calls.deleteCalls(deletion)).resolves.toEqual([])
      await expect(calls.findCall('acme/demo', 'child')).resolves.not.toBeNull()
    })

    it('the size of a trace is the sum of its calls', async () => {
      const calls = await create()
      const start = startOf({ trace_id: 't' })
      const end = endOf({ output: 'é' })
      await calls.startCall(start)
      await calls.endCall(end)
      await calls.startCall(startOf({ id: 'call-2', trace_id: 't' }))
      await calls.startCall(startOf({ id: 'call-3', trace_id: 'other' }))
      const expected = 2 * start.start_size_bytes + end.end_size_bytes
      await expect(calls.sumTraceSizeBytes('acme/demo', 't')).resolves.toBe(expected)
      await expect(calls.sumTraceSizeBytes('acme/demo', 'none')).resolves.toBe(0)
    })
  })
}
