/** What the rules of annotation queues must hold in every store, however many processes run them. */
import { describe, expect, it } from 'vitest'
import type { Feedback } from '../../src/domain/feedback/new-feedback.ts'
import { QueueRules } from '../../src/schemas/annotation/queue-rules.ts'
import type { RuleOutcome } from '../../src/store/api/annotation/annotation-queues.ts'
import type { Stores } from '../../src/store/api/stores.ts'
import { feedbackAt } from '../feedback/feedback-fixtures.ts'
import { readCaller } from '../support/read-caller.ts'

const PROJECT = 'acme/demo'
const CALLER = readCaller()
const DAY_US = 86_400_000_000

type RuleStores = Pick<Stores, 'annotation' | 'feedback' | 'evaluators'>

async function createRuled({ annotation }: RuleStores, rules: object, id = 'q') {
  await annotation.createQueue({
    id,
    project_id: PROJECT,
    name: id,
    description: '',
    scorer_refs_json: '[]',
    queue_type: 'call',
    created_by: 'u',
    created_at_us: 1,
    updated_at_us: 1,
    deleted_at_us: null,
    rules_json: JSON.stringify(QueueRules.parse(rules)),
    rules_position: 3,
  })
}

const feedbackOf = (id: string, feedback_type: string, payload: object): Feedback => ({
  ...feedbackAt('2026-01-31T09:30:00Z', id),
  weave_ref: `weave:///${PROJECT}/call/c-${id}`,
  feedback_type,
  trigger_ref: null,
  payload_json: JSON.stringify(payload),
  scores_json: null,
})

const outcomeOf = (call_ids: readonly string[], more: Partial<RuleOutcome> = {}): RuleOutcome => ({
  project_id: PROJECT,
  id: 'q',
  calls: call_ids.map((call_id) => ({
    call_id,
    call_started_at_us: 1,
    call_ended_at_us: 2,
    call_op_name: 'op',
    call_trace_id: 't',
    added_by: 'rule:random',
    subject_id: call_id,
  })),
  over: call_ids,
  waiting: [],
  due_at_us: 9,
  now_us: 5,
  ...more,
})

async function queueCalls({ evaluators }: RuleStores, call_ids: readonly string[]) {
  const tasks = call_ids.map((subject_id) => ({ evaluator_id: 'q', subject_id, due_at_us: 1 }))
  const from = await evaluators.readPosition()
  expect(await evaluators.queueTasks(tasks, from, from + 1, 1)).toBe(true)
}

export function describeQueueRulesContract(name: string, open: () => Promise<RuleStores>): void {
  describe(`rules of annotation queues of ${name}`, () => {
    const listCalls = async ({ annotation }: RuleStores) =>
      (await annotation.listItems({ project_id: PROJECT, queue_id: 'q' }, CALLER)).map(
        ({ call_id }) => call_id,
      )

    it('queue feedback that they are about with the feedback itself, and no other', async () => {
      const stores = await open()
      const scores = [{ feedback_type: 'rating', below: 2 }]
      await createRuled(stores, { thumbs_down: true, scores, disagreement: {} })
      const away = { ...feedbackOf('away', 'rating', { value: 1 }), project_id: 'acme/other' }
      await stores.feedback.createFeedbackBatch([
        feedbackOf('down', 'wandb.reaction.1', { emoji: '👎🏽', detoned: '👎' }),
        feedbackOf('up', 'wandb.reaction.1', { emoji: '👍', detoned: '👍' }),
        feedbackOf('low', 'rating', { value: 1 }),
        feedbackOf('high', 'rating', { value: 2 }),
        feedbackOf('note', 'wandb.note.1', { note: 'bad' }),
        feedbackOf('judge', 'wandb.runnable.a', { output: { score: 1 } }),
        {
          ...feedbackOf('object', 'rating', { value: 1 }),
          weave_ref: `weave:///${PROJECT}/object/o:v1`,
        },
        {
          ...feedbackOf('foreign', 'rating', { value: 1 }),
          weave_ref: 'weave:///acme/other/call/c-foreign',
        },
        away,
      ])
      await stores.feedback.createFeedback(feedbackOf('low', 'rating', { value: 1 }))
      const tasks = await stores.annotation.listRuleTasks('q', Number.MAX_SAFE_INTEGER)
      expect(tasks.map(({ subject_id }) => subject_id).sort()).toEqual([
        'c-down\ndown',
        'c-judge\njudge',
        'c-low\nlow',
      ])
    })

    it('add each call once, whichever process settles its task first', async () => {
      const stores = await open()
      await createRuled(stores, { random: 1, max_per_day: 3 })
      await queueCalls(stores, ['a', 'b', 'c', 'd'])
      const outcome = outcomeOf(['a', 'b', 'c', 'd'])
      await Promise.all([1, 2, 3].map(() => stores.annotation.settleRules(outcome)))
      expect(await listCalls(stores)).toEqual(['a', 'b', 'c'])
      expect(await stores.evaluators.countWork('q', 5)).toMatchObject({
        scored: 3,
        dropped: 1,
        waiting: 0,
      })
      await queueCalls(stores, ['a', 'd'])
      await stores.annotation.settleRules(outcomeOf(['a', 'd'], { now_us: DAY_US + 5 }))
      expect(await listCalls(stores)).toEqual(['a', 'b', 'c', 'd'])
    })

    it('add nothing while as many calls as they may wait are not rated', async () => {
      const stores = await open()
      await createRuled(stores, { random: 1, max_waiting: 2 })
      await queueCalls(stores, ['a', 'b', 'c'])
      await stores.annotation.settleRules(outcomeOf(['a', 'b', 'c']))
      const [item] = await stores.annotation.listItems(
        { project_id: PROJECT, queue_id: 'q' },
        CALLER,
      )
      const step = { project_id: PROJECT, id: 'q', item_id: item?.id ?? '', updated_at_us: 6 }
      const rated = { ...step, annotator_user_id: 'u', annotation_state: 'completed' } as const
      await stores.annotation.takeStep(rated, CALLER)
      await queueCalls(stores, ['d', 'e'])
      await stores.annotation.settleRules(outcomeOf(['d', 'e']))
      expect(await listCalls(stores)).toEqual(['a', 'b', 'd'])
    })

    it('defer what waits, and end with their queue', async () => {
      const stores = await open()
      await createRuled(stores, { random: 1 })
      await queueCalls(stores, ['a'])
      const waits = { calls: [], over: [], waiting: ['a'] }
      await stores.annotation.settleRules(outcomeOf([], waits))
      expect(await stores.annotation.listRuleTasks('q', 8)).toEqual([])
      expect(await stores.annotation.listRuleTasks('q', 9)).toHaveLength(1)
      expect(await stores.annotation.listRuled()).toMatchObject([{ id: 'q' }])
      await stores.annotation.deleteQueue({ project_id: PROJECT, id: 'q', deleted_at_us: 7 })
      expect(await stores.annotation.listRuled()).toEqual([])
      expect(await stores.annotation.listRuleTasks('q', 9)).toEqual([])
      await stores.annotation.settleRules(outcomeOf(['a']))
      expect(await stores.evaluators.countWork('q', 5)).toMatchObject({ scored: 0 })
    })

    it('end with what waits for them, and begin a share where they are set', async () => {
      const stores = await open()
      const { annotation } = stores
      const set = (rules: object, rules_position: number) =>
        annotation.changeQueue({
          project_id: PROJECT,
          id: 'q',
          name: null,
          description: null,
          scorer_refs_json: null,
          rules_json: JSON.stringify(QueueRules.parse(rules)),
          rules_position,
          updated_at_us: 7,
        })
      await createRuled(stores, { thumbs_down: true })
      expect(await set({ random: 0.5 }, 8)).toMatchObject({ rules_position: 8 })
      expect(await set({ random: 1 }, 9)).toMatchObject({ rules_position: 8 })
      await queueCalls(stores, ['a'])
      expect(await set({}, 10)).toMatchObject({ rules_json: null })
      expect(await stores.evaluators.countWork('q', 5)).toMatchObject({ waiting: 0 })
      expect(await set({ random: 1 }, 11)).toMatchObject({ rules_position: 11 })
    })

    it('are of at most 100 queues of a project', async () => {
      const stores = await open()
      for (let n = 0; n < 100; n++) await createRuled(stores, { random: 1 }, `q-${n}`)
      await expect(createRuled(stores, { random: 1 }, 'more')).rejects.toMatchObject({
        code: 'validation_failed',
        param: 'rules',
      })
    })
  })
}
