/** Claims tasks and scores them, each evaluator by itself. */
import type { Principal, Scope } from '../domain/access/permissions.ts'
import { definitionOf, type Evaluator, principalOf } from '../domain/evaluators/evaluator.ts'
import { readPayer } from '../inference/scorers/payer.ts'
import type { ClaimedTask, TaskOutcome } from '../store/api/evaluators/evaluators.ts'
import type { Stores } from '../store/api/stores.ts'
import { findResults, type JudgedState, type ScoringOptions, scoreTask } from './score-task.ts'
import { readSubjects, type SubjectStores } from './subjects.ts'

export interface ClaimOptions extends ScoringOptions {
  readonly stores: Pick<Stores, 'evaluators' | 'feedback' | 'keys' | 'people'> & SubjectStores
  readonly newId: () => string
  readonly signal: AbortSignal
  /** Called for what should not happen: the tasks are tried again when their leases end. */
  readonly onFailure: (error: unknown) => void
}

/** Why an evaluator stops, by what its payer is. */
const STOPS = {
  person:
    'Who changed it last may not sign in any more, or lacks the rights; another person must save it.',
  key: 'The key that changed it last is revoked, over, or lacks the rights; another key must save it.',
} as const

/** The claimed tasks of one evaluator. */
interface ClaimedGroup {
  readonly taskCount: number
  /** Resolves, never rejects, when the tasks are settled. */
  readonly settled: Promise<void>
}

/** Claims due tasks, and begins to score them. */
export async function runClaimRound(
  tasksMax: number,
  options: ClaimOptions,
): Promise<ClaimedGroup[]> {
  const { stores, newId, nowUs } = options
  const { evaluators } = stores
  if (tasksMax <= 0 || !(await evaluators.hasClaimable(nowUs()))) return []
  const token = newId()
  const tasks = await evaluators.claimTasks({ token, now_us: nowUs(), tasksMax })
  const groups = Map.groupBy(tasks, ({ evaluator_id }) => evaluator_id)
  return [...groups].map(([id, own]) => ({
    taskCount: own.length,
    settled: scoreGroup(id, own, token, options).catch(options.onFailure),
  }))
}

async function scoreGroup(
  id: string,
  tasks: readonly ClaimedTask[],
  token: string,
  options: ClaimOptions,
): Promise<void> {
  const { stores, signal, nowUs } = options
  const evaluator = await stores.evaluators.findEvaluator(id)
  if (evaluator === null) return
  const { project_id } = evaluator
  const isJudge = definitionOf(evaluator).scorer.kind === 'judge'
  const scopes: readonly Scope[] = isJudge ? ['traces:write', 'inference'] : ['traces:write']
  const caller = await readPayer(principalOf(evaluator), { project_id, scopes }, options)
  if (typeof caller === 'string') {
    await stores.evaluators.stopEvaluator(evaluator, STOPS[caller])
    return settle(tasks.map((task) => release(task, token, nowUs())))
  }
  const isRule = definitionOf(evaluator).scorer.kind === 'rule'

  function settle(outcomes: readonly TaskOutcome[]): Promise<void> {
    return stores.evaluators.settleTasks(outcomes)
  }

  async function score(task: ClaimedTask, state: JudgedState): Promise<TaskOutcome> {
    const outcome = await scoreTask(
      { evaluator: evaluator as Evaluator, caller: caller as Principal },
      task,
      state,
      signal,
      options,
    )
    const { evaluator_id, subject_id } = task
    return { ...outcome, evaluator_id, subject_id, token, now_us: nowUs() }
  }

  for (let rest = tasks; rest.length > 0; ) {
    const found = await readSubjects(evaluator, rest, { ...options, nowUs: nowUs() })
    const part = rest.filter((_, index) => found[index]?.is !== 'unread')
    rest = rest.filter((_, index) => found[index]?.is === 'unread')
    const read = found.filter((state) => state.is !== 'unread')
    const states = await findResults(evaluator, part, read, signal, options)
    const scores = states.flatMap((state, index) => {
      const task = part[index]
      return task === undefined ? [] : score(task, state)
    })
    // Rules take no time: their outcomes are one write. A judge's outcome is written when it is known.
    if (isRule) await settle(await Promise.all(scores))
    else await Promise.all(scores.map(async (outcome) => settle([await outcome])))
  }
}

function release(task: ClaimedTask, token: string, now_us: number): TaskOutcome {
  const { evaluator_id, subject_id } = task
  const none = { spent_nanos: 0, error: null, retry_at_us: null, due_at_us: now_us, now_us }
  return { ...none, evaluator_id, subject_id, token, result: 'waits' }
}
