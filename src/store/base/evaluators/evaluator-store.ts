/** Evaluators in SQLite and PostgreSQL alike. */
import { diffStates, SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import {
  dayOf,
  type Evaluator,
  type EvaluatorCounts,
  principalOf,
  renderAudited,
} from '../../../domain/evaluators/evaluator.ts'
import { ApiError } from '../../../errors.ts'
import {
  EVALUATORS_MAX,
  EVALUATORS_PER_PROJECT_MAX,
  type EvaluatorEdit,
  type EvaluatorStore,
  type EvaluatorVersion,
} from '../../api/evaluators/evaluators.ts'
import { type AuditStamp, record, stamp } from '../access/audit-store.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './evaluators.sql.ts'
import { createTaskWrites, readPosition } from './task-writes.ts'

/** Limit: versions in a list. */
const VERSIONS_MAX = 1_000

/** Who makes a change. */
interface Audited {
  readonly by: AuditStamp
}

type Stopped = Parameters<EvaluatorStore['stopEvaluator']>[0] & { readonly error: string }
type EvaluatorWrites = ReturnType<typeof createEvaluatorWrites>

export function createEvaluatorWrites(dialect: Dialect) {
  const lockEvaluator = `${SQL.FIND_EVALUATOR} ${dialect.forUpdate}`

  function* addVersion(evaluator: Evaluator): Steps<void> {
    const { id: evaluator_id, version, definition_json, ref, updated_at_us } = evaluator
    const { svc_user_id } = principalOf(evaluator)
    const made = { svc_user_id, created_at_us: updated_at_us }
    yield* run(SQL.INSERT_VERSION, { evaluator_id, version, definition_json, ref, ...made })
  }

  return {
    ...createTaskWrites(dialect),
    *create_evaluator({ by, ...evaluator }: Evaluator & Audited): Steps<void> {
      const { id, project_id } = evaluator
      if ((yield* first(SQL.FIND_NAME, evaluator)) !== undefined) {
        throw new ApiError('evaluator_conflict', { param: 'name' })
      }
      const inProject = yield* count(SQL.COUNT_EVALUATORS, { project_id })
      const isFull =
        inProject >= EVALUATORS_PER_PROJECT_MAX ||
        (yield* count(SQL.COUNT_ALL, {})) >= EVALUATORS_MAX
      if (isFull) {
        const message = `A project has at most ${EVALUATORS_PER_PROJECT_MAX} evaluators, and a server ${EVALUATORS_MAX}.`
        throw new ApiError('validation_failed', { message })
      }
      yield* run(SQL.INSERT_EVALUATOR, evaluator)
      yield* addVersion(evaluator)
      yield* run(SQL.START_POSITION, { id: 1, position: evaluator.from_position })
      const states = { before: null, after: renderAudited(evaluator) }
      const change = { action: 'evaluator.create', subject_id: id, projects: [project_id] } as const
      yield* record(by, { ...change, ...states })
    },
    *update_evaluator({ by, ...edit }: EvaluatorEdit & Audited): Steps<Evaluator | null> {
      const found = yield* first<Evaluator>(lockEvaluator, { id: edit.id })
      if (found === undefined) return null
      const merged = { ...found, ...edit }
      const isNext = found.definition_json !== merged.definition_json
      const isResumed = found.state === 'paused' && merged.state === 'active'
      const edited = {
        ...merged,
        version: found.version + Number(isNext),
        ref: isNext ? merged.ref : found.ref,
        from_position: isResumed ? merged.from_position : found.from_position,
      }
      yield* run(SQL.UPDATE_EVALUATOR, edited)
      if (isNext) yield* addVersion(edited)
      const states = diffStates(renderAudited(found), renderAudited(edited))
      const about = { subject_id: edit.id, projects: [found.project_id] }
      yield* record(by, { action: 'evaluator.update', ...about, ...states })
      return (yield* first<Evaluator>(SQL.FIND_EVALUATOR, { id: edit.id })) ?? null
    },
    *delete_evaluator({ id, by }: Audited & { readonly id: string }): Steps<boolean> {
      const found = yield* first<Evaluator>(lockEvaluator, { id })
      if (found === undefined) return false
      for (const sql of SQL.DELETES) yield* run(sql, { id })
      const states = { before: renderAudited(found), after: null }
      const about = { subject_id: id, projects: [found.project_id] }
      yield* record(by, { action: 'evaluator.delete', ...about, ...states })
      return true
    },
    *stop_evaluator(stopped: Stopped): Steps<void> {
      yield* run(SQL.STOP_EVALUATOR, stopped)
    },
  }
}

function* countWork(evaluator_id: string, day: number): Steps<EvaluatorCounts> {
  type Sums = Pick<EvaluatorCounts, 'scored' | 'failed' | 'dropped' | 'spent_nanos'>
  const sums = (yield* first<Sums>(SQL.SUM_DAYS, { evaluator_id })) as Sums
  const today = yield* first<Sums>(SQL.FIND_DAY, { evaluator_id, day })
  const waiting = yield* count(SQL.COUNT_TASKS, { evaluator_id })
  return { ...sums, waiting, spent_today_nanos: today?.spent_nanos ?? 0 }
}

export function createEvaluatorStore({ read, write }: StepRuns<EvaluatorWrites>): EvaluatorStore {
  return {
    createEvaluator: (evaluator, by = SERVER_ORIGIN) =>
      write('create_evaluator', { ...evaluator, by: stamp(by) }),
    updateEvaluator: (edit, by = SERVER_ORIGIN) =>
      write('update_evaluator', { ...edit, by: stamp(by) }),
    deleteEvaluator: (id, by = SERVER_ORIGIN) => write('delete_evaluator', { id, by: stamp(by) }),
    stopEvaluator: ({ id, principal_json, updated_at_us }, error) =>
      write('stop_evaluator', { id, principal_json, updated_at_us, error }),
    async findEvaluator(id) {
      return (await read(first<Evaluator>(SQL.FIND_EVALUATOR, { id }))) ?? null
    },
    listEvaluators: (project_id) =>
      read(all<Evaluator>(SQL.LIST_EVALUATORS, { project_id, limit: EVALUATORS_PER_PROJECT_MAX })),
    listActive: () => read(all<Evaluator>(SQL.LIST_ACTIVE, { limit: EVALUATORS_MAX })),
    listVersions: (id) =>
      read(all<EvaluatorVersion>(SQL.LIST_VERSIONS, { id, limit: VERSIONS_MAX })),
    countWork: (id, now_us) => read(countWork(id, dayOf(now_us))),
    readPosition: () => read(readPosition()),
    queueTasks: (tasks, from, to, now_us) => write('queue_tasks', { tasks, from, to, now_us }),
    queueBackfill: (id, backfill, tasks, now_us) =>
      write('queue_backfill', { id, ...backfill, tasks, now_us }),
    dropBackfill: (id) => write('drop_backfill', id),
    hasClaimable: async (now_us) => (await read(count(SQL.HAS_CLAIMABLE, { now_us }))) > 0,
    claimTasks: (claim) => write('claim_tasks', claim),
    settleTasks: (outcomes) => write('settle_tasks', outcomes),
    releaseTasks: () => write('release_tasks', null),
    resetTimes: (now_us) => write('reset_times', now_us),
  }
}
