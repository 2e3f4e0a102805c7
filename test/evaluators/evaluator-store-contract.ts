/** What evaluators must hold in every store, however processes, crashes and clocks meet. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Evaluator } from '../../src/domain/evaluators/evaluator.ts'
import { EvaluatorDefinition } from '../../src/schemas/evaluators/evaluator.ts'
import type {
  ClaimedTask,
  EvaluatorStore,
  TaskOutcome,
} from '../../src/store/api/evaluators/evaluators.ts'

const DAY_US = 86_400_000_000
const LEASE_US = 40_000_000
let ids = 0

/** A judge whose tries are leased for LEASE_US. */
export function evaluatorOf(more: Partial<Evaluator> = {}, definition: object = {}): Evaluator {
  const id = `evaluator-${ids++}`
  const scorer = {
    kind: 'judge',
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    timeout_ms: 10_000,
  }
  return {
    id,
    project_id: `acme/${id}`,
    name: 'judge',
    version: 1,
    definition_json: JSON.stringify(EvaluatorDefinition.parse({ scorer, ...definition })),
    ref: `weave:///acme/${id}/object/judge:v0`,
    monitor_ref: null,
    state: 'active',
    principal_json: JSON.stringify({ keyId: 'k', svc_user_id: 'ada', scopes: [], projects: [] }),
    from_position: 5,
    failures: 0,
    retry_at_us: 0,
    last_error: null,
    backfill_json: null,
    created_at_us: 1,
    updated_at_us: 1,
    ...more,
  }
}

export function outcomeOf(task: ClaimedTask, token: string, more: Partial<TaskOutcome> = {}) {
  const { evaluator_id, subject_id } = task
  const none = { due_at_us: 0, now_us: 1, spent_nanos: 0, error: null, retry_at_us: null }
  return { ...none, evaluator_id, subject_id, token, result: 'scored' as const, ...more }
}

async function queue(store: EvaluatorStore, evaluator: Evaluator, count: number, now_us = 1) {
  const from = await store.readPosition()
  const tasks = Array.from({ length: count }, (_, at) => ({
    evaluator_id: evaluator.id,
    subject_id: `call-${at}`,
    due_at_us: now_us,
  }))
  expect(await store.queueTasks(tasks, from, from + count, now_us)).toBe(true)
}

const claim = (store: EvaluatorStore, token: string, now_us = 1) =>
  store.claimTasks({ token, now_us, tasksMax: 100 })

export function describeEvaluatorContract(name: string, open: () => Promise<EvaluatorStore>): void {
  describe(`evaluators of ${name}`, () => {
    it('the position moves once, however many processes read it', async () => {
      const store = await open()
      const evaluator = evaluatorOf()
      await store.createEvaluator(evaluator)
      const from = await store.readPosition()
      const task = { evaluator_id: evaluator.id, subject_id: 'c', due_at_us: 1 }
      const both = [1, 2].map(() => store.queueTasks([task], from, from + 1, 1))
      expect((await Promise.all(both)).toSorted()).toEqual([false, true])
      expect(await store.readPosition()).toBe(from + 1)
      expect((await store.countWork(evaluator.id, 1)).waiting).toBe(1)
    })

    it('a task is leased to one process, and to the next once its lease is over', async () => {
      const store = await open()
      const evaluator = evaluatorOf({}, { concurrency: 2 })
      await store.createEvaluator(evaluator)
      await queue(store, evaluator, 3)
      const claims = await Promise.all(['a', 'b'].map((token) => claim(store, token)))
      expect(
        claims
          .flat()
          .map(({ subject_id }) => subject_id)
          .toSorted(),
      ).toEqual(['call-0', 'call-1'])
      const [first] = claims.flat() as [ClaimedTask]
      const again = await claim(store, 'c', 1 + LEASE_US)
      expect(again).toHaveLength(2)
      expect(again.find(({ subject_id }) => subject_id === first.subject_id)?.attempts).toBe(2)
      const owner = claims[0]?.length === 0 ? 'b' : 'a'
      await store.settleTasks([
        outcomeOf(first, owner, { spent_nanos: 5 }),
        outcomeOf(first, owner, { spent_nanos: 7, result: 'failed' }),
      ])
      expect(await store.countWork(evaluator.id, 1)).toMatchObject({
        scored: 0,
        failed: 0,
        waiting: 3,
        spent_nanos: 7,
      })
      await store.settleTasks(again.map((task) => outcomeOf(task, 'c')))
      expect(await store.countWork(evaluator.id, 1)).toMatchObject({ scored: 2, waiting: 1 })
    })

    it('a claim gives each evaluator a share, and what one leaves to the others', async () => {
      const store = await open()
      const group = `share-${ids++}`
      const judges = ['a', 'b', 'c'].map((at) =>
        evaluatorOf({ id: `${group}-${at}` }, { concurrency: 10 }),
      )
      for (const judge of judges) await store.createEvaluator(judge)
      const queued = [9, 2, 9]
      for (const [at, judge] of judges.entries()) await queue(store, judge, queued[at] ?? 0)
      const claimed = await store.claimTasks({ token: 'a', now_us: 1, tasksMax: 12 })
      const own = (judge: Evaluator) =>
        claimed.filter(({ evaluator_id }) => evaluator_id === judge.id)
      expect(judges.map((judge) => own(judge).length)).toEqual([4, 2, 6])
    })

    it('no task is claimed once the money of a day is spent, and again on the next', async () => {
      const store = await open()
      const evaluator = evaluatorOf({}, { max_usd_per_day: 0.000_000_01, concurrency: 1 })
      await store.createEvaluator(evaluator)
      await queue(store, evaluator, 3)
      const [task] = (await claim(store, 'a')) as [ClaimedTask]
      await store.settleTasks([outcomeOf(task, 'a', { spent_nanos: 10 })])
      expect(await claim(store, 'b')).toEqual([])
      expect(await claim(store, 'c', DAY_US)).toHaveLength(1)
    })

    it('an evaluator rests after a failure of its model, and its task waits', async () => {
      const store = await open()
      const evaluator = evaluatorOf()
      await store.createEvaluator(evaluator)
      await queue(store, evaluator, 1)
      const [task] = (await claim(store, 'a')) as [ClaimedTask]
      const failure = {
        result: 'waits',
        retry_at_us: 50,
        due_at_us: 50,
        error: 'upstream_error: x',
      }
      await store.settleTasks([outcomeOf(task, 'a', failure as Partial<TaskOutcome>)])
      const rests = await store.findEvaluator(evaluator.id)
      expect(rests).toMatchObject({ failures: 1, retry_at_us: 50, last_error: failure.error })
      expect([await store.hasClaimable(49), await store.hasClaimable(50)]).toEqual([false, true])
      const again = (await claim(store, 'b', 50)) as [ClaimedTask]
      await store.settleTasks([outcomeOf(again[0], 'b')])
      expect(await store.findEvaluator(evaluator.id)).toMatchObject({ failures: 0, retry_at_us: 0 })
    })

    it('what a clock ahead has stored is due once that is set back, and what rests is not', async () => {
      const store = await open()
      const [now, hour, year] = [1e15, 3_600e6, 31_536e9]
      const [evaluator, resting] = [evaluatorOf(), evaluatorOf({ retry_at_us: now + year })]
      for (const one of [evaluator, resting]) await store.createEvaluator(one)
      const queueOne = async ({ id }: Evaluator, subject_id: string, at: number, due: number) => {
        const from = await store.readPosition()
        const task = { evaluator_id: id, subject_id, due_at_us: due }
        await store.queueTasks([task], from, from + 1, at)
      }
      const claimOwn = async (at: number) => {
        const own = [evaluator.id, resting.id]
        const claimed = await claim(store, `at-${at}`, at)
        const named = claimed.filter(({ evaluator_id }) => own.includes(evaluator_id))
        return named.map(({ subject_id }) => subject_id).toSorted()
      }
      await queueOne(evaluator, 'leased', now, now)
      expect(await claimOwn(now + year - hour)).toEqual(['leased'])
      await queueOne(evaluator, 'rests', now, now + hour)
      await queueOne(evaluator, 'queued ahead', now + hour, now + hour)
      await queueOne(evaluator, 'deferred', now, now + year)
      await queueOne(resting, 'of a resting one', now, now)
      expect(await claimOwn(now)).toEqual([])
      await store.resetTimes(now)
      expect(await claimOwn(now)).toEqual([
        'deferred',
        'leased',
        'of a resting one',
        'queued ahead',
      ])
      expect(await claimOwn(now + hour)).toContain('rests')
    })

    it('new calls are claimed before old ones, and a backfill moves once', async () => {
      const store = await open()
      const evaluator = evaluatorOf({}, { concurrency: 1 })
      await store.createEvaluator(evaluator)
      const old = [{ evaluator_id: evaluator.id, subject_id: 'old', due_at_us: 0 }]
      const next = { expected: null, next: '{"state":"running"}' }
      const both = [1, 2].map(() => store.queueBackfill(evaluator.id, next, old, 0))
      expect((await Promise.all(both)).toSorted()).toEqual([false, true])
      await queue(store, evaluator, 1)
      expect((await claim(store, 'a')).map((task) => task.subject_id)).toEqual(['call-0'])
    })

    it('a definition that differs is the next version; a deleted evaluator leaves nothing, not even of a try that ends later', async () => {
      const store = await open()
      const evaluator = evaluatorOf()
      await store.createEvaluator(evaluator)
      await expect(store.createEvaluator({ ...evaluator, id: 'x' })).rejects.toThrow('name')
      await queue(store, evaluator, 1)
      const [task] = (await claim(store, 'a')) as [ClaimedTask]
      const same = await store.updateEvaluator(evaluator)
      const edited = await store.updateEvaluator({ ...evaluator, definition_json: '{"scorer":{}}' })
      expect([same?.version, edited?.version]).toEqual([1, 2])
      expect((await store.listVersions(evaluator.id)).map(({ version }) => version)).toEqual([2, 1])
      expect(await store.deleteEvaluator(evaluator.id)).toBe(true)
      await store.settleTasks([outcomeOf(task, 'a', { spent_nanos: 7, result: 'failed' })])
      const nothing = { waiting: 0, scored: 0, spent_nanos: 0 }
      expect(await store.countWork(evaluator.id, 1)).toMatchObject(nothing)
      expect(await store.listEvaluators(evaluator.project_id)).toEqual([])
    })

    it('an edit of one field leaves the others as another edit has stored them', async () => {
      const store = await open()
      const evaluator = evaluatorOf({ from_position: 5 })
      const { id } = evaluator
      await store.createEvaluator(evaluator)
      const payer = { principal_json: '{"svc_user_id":"bob"}', definition_json: '{"scorer":{}}' }
      await store.updateEvaluator({ id, ...payer, ref: 'r', updated_at_us: 2 })
      const paused = await store.updateEvaluator({ id, state: 'paused', updated_at_us: 3 })
      expect(paused).toMatchObject({ ...payer, ref: 'r', version: 2, state: 'paused' })
      const active = { state: 'active', from_position: 9 } as const
      const resumed = await store.updateEvaluator({ id, ...active, updated_at_us: 4 })
      expect(resumed).toMatchObject({ ...payer, ...active })
      const again = { ...active, from_position: 12, updated_at_us: 5 }
      expect(await store.updateEvaluator({ id, ...again })).toMatchObject(active)
    })

    it('an evaluator that was saved since its payer was read is not stopped', async () => {
      const store = await open()
      const evaluator = evaluatorOf()
      await store.createEvaluator(evaluator)
      const { id } = evaluator
      const saved = await store.updateEvaluator({ id, principal_json: '{}', updated_at_us: 2 })
      await store.stopEvaluator(evaluator, 'revoked')
      const found = () => store.findEvaluator(id)
      expect(await found()).toMatchObject({ state: 'active', last_error: null })
      await store.stopEvaluator(saved as Evaluator, 'revoked')
      expect(await found()).toMatchObject({ state: 'paused', last_error: 'revoked' })
    })

    it('over random histories of crashes each call has one result, and none is lost', async () => {
      const store = await open()
      await fc.assert(
        fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), (steps) => play(store, steps)),
        {
          numRuns: 25,
          endOnFailure: true,
        },
      )
    })
  })
}

/** What one of two processes does next. */
const STEP = fc.record({
  process: fc.nat(1),
  does: fc.constantFrom('queue', 'claim', 'score', 'settle', 'crash', 'wait'),
})
type Step = { readonly process: number; readonly does: string }

interface Process {
  /** Tasks that it holds, in its own belief, and those that have their result. */
  held: { readonly task: ClaimedTask; readonly token: string }[]
  scored: { readonly task: ClaimedTask; readonly token: string }[]
}

/** Results are stored by an id, as feedback is: of two, the second is refused. */
async function play(store: EvaluatorStore, steps: readonly Step[]): Promise<void> {
  const evaluator = evaluatorOf({}, { concurrency: 3 })
  await store.createEvaluator(evaluator)
  const processes: Process[] = [0, 1].map(() => ({ held: [], scored: [] }))
  const results = new Map<string, number>()
  const queued = new Set<string>()
  let now = 1

  async function act(own: Process, does: string): Promise<void> {
    if (does === 'wait') now += LEASE_US
    if (does === 'crash') Object.assign(own, { held: [], scored: [] })
    if (does === 'queue') {
      const from = await store.readPosition()
      const names = [1, 2].map((at) => `call-${from + at}`)
      const tasks = names.map((subject_id) => ({
        evaluator_id: evaluator.id,
        subject_id,
        due_at_us: now,
      }))
      if (await store.queueTasks(tasks, from, from + 2, now)) for (const id of names) queued.add(id)
    }
    if (does === 'claim') {
      const token = `token-${ids++}`
      const claimed = await store.claimTasks({ token, now_us: now, tasksMax: 10 })
      own.held.push(
        ...claimed
          .filter((task) => task.evaluator_id === evaluator.id)
          .map((task) => ({ task, token })),
      )
    }
    if (does === 'score') {
      for (const { task } of own.held) {
        const id = task.subject_id
        if (!results.has(id)) results.set(id, now)
      }
      own.scored.push(...own.held)
      own.held = []
    }
    if (does === 'settle') {
      await store.settleTasks(own.scored.map(({ task, token }) => outcomeOf(task, token)))
      own.scored = []
    }
  }

  for (const { process, does } of steps) await act(processes[process] as Process, does)
  const [last] = processes as [Process]
  for (let round = 0; round < 100; round++) {
    for (const does of ['wait', 'claim', 'score', 'settle']) await act(last, does)
    if ((await store.countWork(evaluator.id, now)).waiting === 0) break
  }
  const counts = await store.countWork(evaluator.id, now)
  expect(counts).toMatchObject({ waiting: 0, scored: queued.size })
  expect([...results.keys()].toSorted()).toEqual([...queued].toSorted())
  await store.deleteEvaluator(evaluator.id)
}
