/** What every AnnotationStore must do, whatever it stores in. */
import { describe, expect, it } from 'vitest'
import {
  CLAIM_US,
  type ReachedState,
  resolveNamedCalls,
} from '../../src/domain/annotation/annotation-item.ts'
import type { AnnotationQueue } from '../../src/domain/annotation/annotation-queue.ts'
import type { AnnotationStore } from '../../src/store/api/annotation/annotation-queues.ts'
import type { CallStore } from '../../src/store/api/calls/calls.ts'
import { endOf, startOf } from '../store/calls/call-store-contract.ts'
import { readCaller } from '../support/read-caller.ts'

const PROJECT = 'acme/demo'
const CALLER = readCaller()

export interface AnnotationStores {
  readonly annotation: AnnotationStore
  readonly calls: CallStore
}

async function startCalls({ calls }: AnnotationStores, project_id: string, ids: readonly string[]) {
  for (const id of ids) await calls.startCall(startOf({ project_id, id }))
}

async function fill(stores: AnnotationStores, count: number) {
  const { annotation } = stores
  const call_ids = Array.from({ length: count }, (_, n) => `c${n}`)
  await startCalls(stores, PROJECT, call_ids)
  await annotation.createQueue(queueOf({ id: 'q' }))
  const common = { display_fields_json: '[]', added_by: 'u', created_at_us: 1, isStrict: true }
  const named = resolveNamedCalls('call', { call_ids })
  await annotation.addItems({ project_id: PROJECT, id: 'q', ...named, ...common }, CALLER)
  return annotation.listItems({ project_id: PROJECT, queue_id: 'q' }, CALLER)
}

const NO_QUEUE = { code: 'annotation_queue_not_found' }

const queueOf = (fields: Partial<AnnotationQueue>): AnnotationQueue => ({
  id: 'q',
  project_id: PROJECT,
  name: 'n',
  description: 'd',
  scorer_refs_json: '[]',
  queue_type: 'call',
  created_by: 'u',
  created_at_us: 1,
  updated_at_us: 1,
  deleted_at_us: null,
  rules_json: null,
  rules_position: 0,
  ...fields,
})

const step = (item_id: string, annotator: string, state: ReachedState, updated_at_us = 2) => ({
  project_id: PROJECT,
  id: 'q',
  item_id,
  annotator_user_id: annotator,
  annotation_state: state,
  updated_at_us,
})

/** @param create - empty stores that close themselves when the test ends */
export function describeAnnotationStoreContract(
  name: string,
  create: () => Promise<AnnotationStores>,
): void {
  describe(`${name} keeps the AnnotationStore contract`, () => {
    it('gives each item to one of the annotators who claim all of them at once', async () => {
      const stores = await create()
      const items = await fill(stores, 10)
      const annotators = ['ann', 'bob', 'cyd', 'dan']
      const claims = items.flatMap(({ id }) =>
        annotators.map(async (annotator) => {
          try {
            await stores.annotation.takeStep(step(id, annotator, 'in_progress'), CALLER)
            return [id, annotator]
          } catch (error) {
            expect(error).toMatchObject({ code: 'annotation_conflict' })
            return null
          }
        }),
      )
      const won = (await Promise.all(claims)).filter((claim) => claim !== null)
      expect(won.map(([id]) => id).sort()).toEqual(items.map(({ id }) => id).sort())
      const after = await stores.annotation.listItems(
        { project_id: PROJECT, queue_id: 'q' },
        CALLER,
      )
      expect(after.map((item) => [item.id, item.annotator_user_id])).toEqual(
        after.map(({ id }) => won.find(([wonId]) => wonId === id)),
      )
    })

    it('lets a claim lapse after an hour', async () => {
      const stores = await create()
      const [item] = await fill(stores, 1)
      const id = item?.id ?? ''
      const claim = (annotator: string, us: number) =>
        stores.annotation.takeStep(step(id, annotator, 'in_progress', us), CALLER)
      await claim('ann', 10)
      await expect(claim('bob', 9 + CLAIM_US)).rejects.toMatchObject({
        code: 'annotation_conflict',
      })
      expect(await claim('bob', 10 + CLAIM_US)).toMatchObject({ annotator_user_id: 'bob' })
      await expect(claim('ann', 11 + CLAIM_US)).rejects.toMatchObject({
        code: 'annotation_conflict',
      })
      const finished = await stores.annotation.takeStep(
        step(id, 'ann', 'completed', 12 + CLAIM_US),
        CALLER,
      )
      expect(finished).toMatchObject({ annotation_state: 'completed', annotator_user_id: 'ann' })
    })

    it('counts an item done once, and not less when another annotator begins', async () => {
      const stores = await create()
      const items = await fill(stores, 2)
      const id = items[0]?.id ?? ''
      await stores.annotation.takeStep(step(id, 'ann', 'completed'), CALLER)
      await stores.annotation.takeStep(step(id, 'bob', 'in_progress', 3), CALLER)
      expect(await stores.annotation.sumQueues(['q'], CALLER)).toEqual([
        { queue_id: 'q', total_items: 2, completed_items: 1 },
      ])
    })

    it('adds each call once, whoever adds it at once, and nothing with an unknown one', async () => {
      const stores = await create()
      const { annotation } = stores
      await fill(stores, 1)
      await startCalls(stores, PROJECT, ['n0', 'n1'])
      await startCalls(stores, 'acme/other', ['theirs'])
      const add = (call_ids: string[]) =>
        annotation.addItems(
          {
            project_id: PROJECT,
            id: 'q',
            ...resolveNamedCalls('call', { call_ids }),
            display_fields_json: '[]',
            added_by: 'u',
            created_at_us: 2,
            isStrict: true,
          },
          CALLER,
        )
      await expect(add(['n0', 'theirs'])).rejects.toMatchObject({
        code: 'call_not_found',
        param: 'call_ids[1]',
      })
      const added = await Promise.all([add(['n0', 'n1']), add(['n1', 'n0'])])
      expect(added.map(({ added_count }) => added_count).sort()).toEqual([0, 2])
      const found = await annotation.listItems({ project_id: PROJECT, queue_id: 'q' }, CALLER)
      expect(found.map(({ call_id }) => call_id).sort()).toEqual(['c0', 'n0', 'n1'])
    })

    it('lists, changes and deletes queues of their project alone', async () => {
      const { annotation } = await create()
      const before = ['q1', 'q2', 'q3'].map((id, at) => queueOf({ id, created_at_us: 9 - at }))
      const other = queueOf({ id: 'far', project_id: 'acme/other' })
      for (const queue of [...before, other]) await annotation.createQueue(queue)
      expect(await annotation.listQueues(CALLER)).toEqual(before)
      const kept = { name: null, description: null, scorer_refs_json: null }
      const keep = { ...kept, rules_json: null, rules_position: 0 }
      const change = (id: string, fields: object) =>
        annotation.changeQueue({ project_id: PROJECT, id, ...keep, updated_at_us: 5, ...fields })
      const [first, second] = before
      const same = change('q1', {})
      await expect(same).resolves.toEqual(first)
      const fields = { name: 'ü', scorer_refs_json: '["r"]' }
      await expect(change('q1', fields)).resolves.toEqual({ ...first, ...fields, updated_at_us: 5 })
      const described = { description: '', updated_at_us: 6 }
      const changed = { ...first, ...fields, ...described }
      await expect(change('q1', described)).resolves.toEqual(changed)
      await expect(change('far', fields)).rejects.toMatchObject(NO_QUEUE)
      const deletion = { project_id: PROJECT, id: 'q2', deleted_at_us: 7 }
      const gone = { ...second, updated_at_us: 7, deleted_at_us: 7 }
      await expect(annotation.deleteQueue(deletion)).resolves.toEqual(gone)
      await expect(annotation.deleteQueue(deletion)).rejects.toMatchObject(NO_QUEUE)
      await expect(annotation.deleteQueue({ ...deletion, id: 'far' })).rejects.toMatchObject(
        NO_QUEUE,
      )
      await expect(change('q2', {})).rejects.toMatchObject(NO_QUEUE)
      expect(await annotation.listQueues(CALLER)).toEqual([changed, before[2]])
      const found = ['q1', 'q2', 'far'].map((id) =>
        annotation.findQueue({ project_id: PROJECT, id }),
      )
      expect(await Promise.all(found)).toEqual([changed, null, null])
      const none = { total_items: 0, completed_items: 0 }
      expect(await annotation.sumQueues(['far', 'q1', 'q2', 'q1'], CALLER)).toEqual(
        ['far', 'q1', 'q2', 'q1'].map((queue_id) => ({ queue_id, ...none })),
      )
    })

    it('lists the items that a filter wants, in the order asked for, with their places', async () => {
      const { annotation, calls } = await create()
      const started = [
        { id: 'a', op_name: 'é', started_at: '2026-01-01T00:00:03Z', trace_id: 't1' },
        { id: 'b', op_name: 'B', started_at: '2026-01-01T00:00:01Z', trace_id: 't1' },
        { id: 'c', op_name: 'a', started_at: '2026-01-01T00:00:03Z', trace_id: 't2' },
        { id: 'd', op_name: 'B', started_at: '2026-01-01T00:00:02Z', trace_id: 't2' },
      ]
      for (const start of started) await calls.startCall(startOf(start))
      await annotation.createQueue(queueOf({ id: 'q' }))
      const add = (call_ids: string[], created_at_us: number) =>
        annotation.addItems(
          {
            project_id: PROJECT,
            id: 'q',
            ...resolveNamedCalls('call', { call_ids }),
            display_fields_json: '["inputs"]',
            added_by: `u${created_at_us}`,
            created_at_us,
            isStrict: false,
          },
          CALLER,
        )
      expect(await add(['d', 'unknown', 'a', 'd'], 1)).toEqual({ added_count: 2, duplicates: 1 })
      expect(await add(['c', 'b', 'a'], 0)).toEqual({ added_count: 2, duplicates: 1 })
      expect(await add([], 0)).toEqual({ added_count: 0, duplicates: 0 })
      await calls.endCall(endOf({ id: 'b', ended_at: '2026-01-01T00:00:09Z' }))
      const list = (fields: object) =>
        annotation.listItems({ project_id: PROJECT, queue_id: 'q', ...fields }, CALLER)
      const [d, a, c, b] = await list({})
      const ids = [d, a, c, b].map((item) => item?.id ?? '')
      expect(d).toMatchObject({ call_id: 'd', added_by: 'u1', position_in_queue: null })
      expect(d).toMatchObject({ call_trace_id: 't2', call_op_name: 'B', annotator_user_id: null })
      expect([b?.call_ended_at_us, a?.call_ended_at_us]).toEqual([
        Date.UTC(2026, 0, 1, 0, 0, 9) * 1000,
        null,
      ])
      await annotation.takeStep(step(ids[1] ?? '', 'ann', 'skipped', 8), CALLER)
      await annotation.takeStep(step(ids[2] ?? '', 'ann', 'in_progress', 9), CALLER)
      const sorted = (...fields: string[]) => ({
        sort_by: fields.map((text) => {
          const [field, direction = 'asc'] = text.split(' ')
          return { field, direction }
        }),
      })
      const answers: readonly (readonly [object, string])[] = [
        [{}, 'd1 a2 c3 b4'],
        [{ offset: 1, limit: 2 }, 'a2 c3'],
        [{ limit: 0 }, ''],
        [{ offset: 9 }, ''],
        [sorted('created_at'), 'c1 b2 d3 a4'],
        [sorted('created_at desc'), 'd1 a2 c3 b4'],
        [sorted('updated_at desc'), 'c1 a2 d3 b4'],
        [sorted('call_started_at'), 'b1 d2 a3 c4'],
        [sorted('call_op_name'), 'd1 b2 c3 a4'],
        [sorted('call_op_name', 'call_started_at'), 'b1 d2 c3 a4'],
        [sorted('call_op_name desc', 'call_started_at desc'), 'a1 c2 d3 b4'],
        [{ filter: { call_op_name: 'B' }, ...sorted('call_started_at desc') }, 'd3 b4'],
        [{ filter: { id: ids[2] } }, 'c3'],
        [{ filter: { call_id: 'b' } }, 'b4'],
        [{ filter: { call_trace_id: 't1' } }, 'a2 b4'],
        [{ filter: { added_by: 'u0' }, limit: 1 }, 'c3'],
        [{ filter: { added_by: 'none' } }, ''],
        [{ filter: { annotation_states: ['unstarted', 'skipped'] } }, 'd1 a2 b4'],
        [{ filter: { annotation_states: ['in_progress'], call_id: 'c' } }, 'c3'],
        [{ filter: { annotation_states: [] } }, 'd1 a2 c3 b4'],
      ]
      for (const [fields, expected] of answers) {
        const items = await list({ ...fields, include_position: true })
        const told = items.map(({ call_id, position_in_queue: place }) => `${call_id}${place}`)
        expect([fields, told.join(' ')]).toEqual([fields, expected])
      }
      await expect(list({ queue_id: 'none' })).rejects.toMatchObject(NO_QUEUE)
    })

    it('accepts a repeated step, but none on items of others or after the end', async () => {
      const stores = await create()
      const { annotation } = stores
      const [item] = await fill(stores, 1)
      const id = item?.id ?? ''
      const take = (...[item_id, annotator, state, us]: Parameters<typeof step>) =>
        annotation.takeStep(step(item_id, annotator, state, us), CALLER)
      const claimed = { ...item, annotation_state: 'in_progress', annotator_user_id: 'ann' }
      expect(await take(id, 'ann', 'in_progress', 3)).toEqual({ ...claimed, updated_at_us: 3 })
      expect(await take(id, 'ann', 'in_progress', 4)).toEqual({ ...claimed, updated_at_us: 4 })
      const done = { ...claimed, annotation_state: 'completed', updated_at_us: 5 }
      expect(await take(id, 'ann', 'completed', 5)).toEqual(done)
      expect(await take(id, 'ann', 'completed', 6)).toEqual(done)
      const conflict = { code: 'annotation_conflict' }
      await expect(take(id, 'ann', 'in_progress', 7)).rejects.toMatchObject(conflict)
      await expect(take(id, 'ann', 'skipped', 7)).rejects.toMatchObject(conflict)
      const noItem = { code: 'annotation_item_not_found' }
      await expect(take('none', 'ann', 'skipped', 7)).rejects.toMatchObject(noItem)
      await annotation.createQueue(queueOf({ id: 'empty' }))
      const elsewhere = annotation.takeStep({ ...step(id, 'bob', 'skipped'), id: 'empty' }, CALLER)
      await expect(elsewhere).rejects.toMatchObject(noItem)
      await annotation.deleteQueue({ project_id: PROJECT, id: 'q', deleted_at_us: 8 })
      await expect(take(id, 'bob', 'skipped', 9)).rejects.toMatchObject(NO_QUEUE)
    })
  })
}
