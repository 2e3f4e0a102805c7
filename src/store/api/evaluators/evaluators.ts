/** The contract of the store of evaluators and of what waits to be scored. It has no clock: times are given. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { Evaluator, EvaluatorCounts } from '../../../domain/evaluators/evaluator.ts'

/** Limits: evaluators of a project and of a server, and subjects of one that wait. */
export const EVALUATORS_PER_PROJECT_MAX = 100
export const EVALUATORS_MAX = 2_000
export const TASKS_WAITING_MAX = 100_000

export interface EvaluatorVersion
  extends Pick<Evaluator, 'version' | 'definition_json' | 'ref' | 'created_at_us'> {
  readonly svc_user_id: string
}

/** What an edit sets; a field without a value stays as it is stored. */
export type EvaluatorEdit = Pick<Evaluator, 'id' | 'updated_at_us'> &
  Partial<
    Pick<
      Evaluator,
      | 'definition_json'
      | 'ref'
      | 'monitor_ref'
      | 'principal_json'
      | 'state'
      /** Only set where the edit resumes a paused evaluator. */
      | 'from_position'
    >
  >

/** A subject that waits: id of a call, trace or conversation. */
export interface NewTask {
  readonly evaluator_id: string
  readonly subject_id: string
  /** Not scored before; a later time replaces an earlier one. */
  readonly due_at_us: number
}

export interface ClaimedTask {
  readonly evaluator_id: string
  readonly subject_id: string
  readonly is_backfill: boolean
  readonly queued_at_us: number
  /** This one included. */
  readonly attempts: number
}

export interface TaskClaim {
  readonly token: string
  readonly now_us: number
  readonly tasksMax: number
}

/** The end of a task, or of one try. */
export interface TaskOutcome {
  readonly evaluator_id: string
  readonly subject_id: string
  readonly token: string
  /** `waits`: it is tried again; `passed_over`: it needs no score. */
  readonly result: 'scored' | 'failed' | 'passed_over' | 'waits'
  /** When it is tried again, if it waits. */
  readonly due_at_us: number
  readonly now_us: number
  readonly spent_nanos: number
  readonly error: string | null
  /** Until when the evaluator rests, as its model fails; null: it does not. */
  readonly retry_at_us: number | null
}

export interface EvaluatorStore {
  /**
   * Stores an evaluator with its first version. Resolves when it is durable, as the others do.
   *
   * @throws ApiError evaluator_conflict for a name that is taken; validation_failed for too many
   */
  createEvaluator(evaluator: Evaluator, by?: AuditOrigin): Promise<void>
  /**
   * Edits an evaluator; a definition that differs is the next version.
   *
   * @returns the evaluator, or null when there is none
   */
  updateEvaluator(edit: EvaluatorEdit, by?: AuditOrigin): Promise<Evaluator | null>
  /** Removes an evaluator with its tasks and counts; results stay. False when there is none. */
  deleteEvaluator(id: string, by?: AuditOrigin): Promise<boolean>
  /** Pauses an evaluator whose payer may not pay, with the reason; no effect when it has been edited since it was read. */
  stopEvaluator(
    read: Pick<Evaluator, 'id' | 'principal_json' | 'updated_at_us'>,
    error: string,
  ): Promise<void>
  findEvaluator(id: string): Promise<Evaluator | null>
  /** By name; at most EVALUATORS_PER_PROJECT_MAX. */
  listEvaluators(project_id: string): Promise<Evaluator[]>
  /** Of all projects; at most EVALUATORS_MAX. */
  listActive(): Promise<Evaluator[]>
  /** The newest first, at most 1,000. */
  listVersions(id: string): Promise<EvaluatorVersion[]>
  countWork(id: string, now_us: number): Promise<EvaluatorCounts>
  /** How far the calls are queued; -1: they never were. */
  readPosition(): Promise<number>
  /**
   * Queues subjects and moves the position, as one transaction; a subject that waits is not queued twice. Beyond
   * TASKS_WAITING_MAX of an evaluator they are dropped and counted.
   *
   * @param from - the position that was read
   * @returns false, with nothing changed, when another process has moved it
   */
  queueTasks(tasks: readonly NewTask[], from: number, to: number, now_us: number): Promise<boolean>
  /**
   * Queues subjects of a backfill and replaces its state, as one transaction.
   *
   * @param expected - the state that was read, as JSON
   * @returns false, with nothing changed, when it is another one by now
   */
  queueBackfill(
    id: string,
    backfill: { readonly expected: string | null; readonly next: string },
    tasks: readonly NewTask[],
    now_us: number,
  ): Promise<boolean>
  /** Removes what a backfill has queued and nobody scores yet. */
  dropBackfill(id: string): Promise<void>
  /** Whether a claim may find tasks. */
  hasClaimable(now_us: number): Promise<boolean>
  /** Leases due tasks of active evaluators, within the concurrency and money of each, and a fair share for each. */
  claimTasks(claim: TaskClaim): Promise<ClaimedTask[]>
  /**
   * Settles tries of tasks. One whose lease is lost only counts what was spent without a result: the cost of a stored
   * result is counted by the try that holds the lease.
   */
  settleTasks(outcomes: readonly TaskOutcome[]): Promise<void>
  /** Ends all leases: of a process that has ended, where it was the only one. */
  releaseTasks(): Promise<void>
  /**
   * Makes due what was stored for later than anything waits, rests or is leased, by a clock that has been set back since;
   * also what the rules of annotation queues have to check.
   */
  resetTimes(now_us: number): Promise<void>
}
