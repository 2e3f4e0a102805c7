/** What every RecordingStore must do, whatever it stores in. */
import { describe, expect, it } from 'vitest'
import type { RecordedCall, RecordedFacts } from '../../../src/domain/calls/recorded-call.ts'
import type { CallStore } from '../../../src/store/api/calls/calls.ts'
import type { RecordingLoss, RecordingStore } from '../../../src/store/api/chat/recordings.ts'

const PROJECT = 'acme/demo'

export function recordedCall(facts: Partial<RecordedFacts> = {}, bodies = {}): RecordedCall {
  return {
    facts: {
      project_id: PROJECT,
      id: 'c1',
      trace_id: 't1',
      op_name: 'chat',
      started_at_us: 1_000_000,
      ended_at_us: 2_000_000,
      svc_user_id: 'u',
      svc_username: 'U',
      ref_scheme: 'weave',
      attributes: { a: 1 },
      exception: null,
      summary: {},
      ...facts,
    },
    inputs_json: '{"b":2}',
    output_json: '[3]',
    ...bodies,
  }
}

interface Stores {
  readonly calls: CallStore
  readonly recordings: RecordingStore
}

/** @param create - empty stores that close themselves when the test ends */
export function describeRecordingContract(name: string, create: () => Promise<Stores>): void {
  describe(`${name} keeps the RecordingStore contract`, () => {
    it('a flush stores all added calls', async () => {
      const { calls, recordings } = await create()
      const summary = { usage: { m: { input_tokens: 5 } } }
      recordings.add(recordedCall({ summary, exception: 'e' }))
      await recordings.flush()
      await expect(calls.findCall(PROJECT, 'c1')).resolves.toMatchObject({
        id: 'c1',
        trace_id: 't1',
        op_name: 'chat',
        svc_user_id: 'u',
        exception: 'e',
        started_at_us: 1_000_000,
        ended_at_us: 2_000_000,
        attributes: { a: 1 },
        inputs: { b: 2 },
        output: [3],
        summary,
      })
    })

    it('readers of an announced call wait until it is stored', async () => {
      const { calls, recordings } = await create()
      const arrive = recordings.announce(PROJECT, 'c1')
      const found = calls.findCall(PROJECT, 'c1')
      recordings.add(recordedCall(), arrive)
      await expect(found).resolves.toMatchObject({ id: 'c1' })
    })

    it('no reader waits for a call that will not be added', async () => {
      const { calls, recordings } = await create()
      const arrive = recordings.announce(PROJECT, 'c1')
      const found = calls.findCall(PROJECT, 'c1')
      arrive()
      await expect(found).resolves.toBeNull()
    })

    it('calls are stored without a flush', async () => {
      const { calls, recordings } = await create()
      recordings.add(recordedCall())
      await expect.poll(() => calls.findCall(PROJECT, 'c1')).not.toBeNull()
    })

    it('calls of every size and alphabet are stored', async () => {
      const { calls, recordings } = await create()
      const texts = ['é', '€', '😀', 'x'].map((letter) => letter.repeat(1_000_000))
      for (const [at, text] of texts.entries()) {
        recordings.add(recordedCall({ id: `c${at}` }, { output_json: JSON.stringify(text) }))
        recordings.add(recordedCall({ id: `s${at}` }, { output_json: JSON.stringify(text[0]) }))
      }
      await recordings.flush()
      for (const [at, text] of texts.entries()) {
        const [large, small] = await Promise.all(
          [`c${at}`, `s${at}`].map((id) => calls.findCall(PROJECT, id)),
        )
        expect(large?.output === text).toBe(true)
        expect(small?.output).toBe(text[0])
      }
    })

    it('refused calls are reported without affecting the others', async () => {
      const { calls, recordings } = await create()
      const losses: RecordingLoss[] = []
      recordings.onLoss((loss) => losses.push(loss))
      recordings.add(recordedCall())
      recordings.add(recordedCall({}, { output_json: '4' }))
      recordings.add(recordedCall({ id: 'c2' }, { inputs_json: '{\nbroken' }))
      recordings.add(recordedCall({ id: 'c3' }))
      await recordings.flush()
      expect(losses).toHaveLength(2)
      expect(losses).toContainEqual({
        count: 1,
        error: expect.objectContaining({ code: 'call_conflict' }),
      })
      await expect(calls.findCall(PROJECT, 'c1')).resolves.toMatchObject({ output: [3] })
      await expect(calls.findCall(PROJECT, 'c2')).resolves.toBeNull()
      await expect(calls.findCall(PROJECT, 'c3')).resolves.not.toBeNull()
    })

    it('a name given to a call before its write is stored', async () => {
      const { calls, recordings } = await create()
      recordings.onLoss(({ error }) => expect.fail(String(error)))
      await calls.renameCall({ project_id: PROJECT, id: 'c1', display_name: 'mine' })
      for (const id of ['c0', 'c1', 'c2']) recordings.add(recordedCall({ id }))
      await recordings.flush()
      const [before, named, after] = await Promise.all(
        ['c0', 'c1', 'c2'].map((id) => calls.findCall(PROJECT, id)),
      )
      expect(named).toMatchObject({ display_name: 'mine', op_name: 'chat', inputs: { b: 2 } })
      expect([before?.output, after?.output]).toEqual([[3], [3]])
    })

    it('the same call is accepted twice', async () => {
      const { recordings } = await create()
      const losses: RecordingLoss[] = []
      recordings.onLoss((loss) => losses.push(loss))
      for (let time = 0; time < 2; time++) {
        recordings.add(recordedCall())
        await recordings.flush()
      }
      expect(losses).toEqual([])
    })
  })
}
