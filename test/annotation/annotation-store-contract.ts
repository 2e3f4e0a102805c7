/** What every AnnotationStore must do, whatever it stores in. */
import { describe, expect, it } from 'vitest'
import { CLAIM_US, type ReachedState } from '../../src/domain/annotation/annotation-item.ts'
import type { AnnotationStore } from '../../src/store/api/annotation/annotation-queues.ts'
import { readCaller } from '../support/read-caller.ts'

const PROJECT = 'acme/demo'
const CALLER = readCaller()

export interface AnnotationStores {
  readonly annotation: AnnotationStore
  /** Stores calls that have begun. */
  startCalls(projectId: string, ids: readonly string[]): Promise<void>
}

async function fill({ annotation, startCalls }: AnnotationStores, count: number) {
  const call_ids = Array.from({ length: count }, (_, n) => `c${n}`)
  await startCalls(PROJECT, call_ids)
  await annotation.createQueue({
    ...{ id: 'q', project_id: PROJECT, name: 'n', description: '', scorer_refs_json: '[]' },
    ...{ created_by: 'u', created_at_us: 1, updated_at_us: 1, deleted_at_us: null },
  })
  const common = { display_fields_json: '[]', added_by: 'u', created_at_us: 1, isStrict: true }
  await annotation.addItems({ project_id: PROJECT, id: 'q', call_ids, ...common }, CALLER)
  return annotation.listItems({ project_id: PROJECT, queue_id: 'q' }, CALLER)
}

const step = (item_id: string, annotator: string, state: ReachedState, updated_at_us = 2) => ({
  ...{ project_id: PROJECT, id: 'q', item_id, annotator_user_id: annotator },
  ...{ annotation_state: state, updated_at_us },
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
      const { annotation, startCalls } = await create()
      await fill({ annotation, startCalls }, 1)
      await startCalls(PROJECT, ['n0', 'n1'])
      await startCalls('acme/other', ['theirs'])
      const add = (call_ids: string[]) =>
        annotation.addItems(
          {
            ...{ project_id: PROJECT, id: 'q', call_ids, display_fields_json: '[]' },
            ...{ added_by: 'u', created_at_us: 2, isStrict: true },
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
  })
}
