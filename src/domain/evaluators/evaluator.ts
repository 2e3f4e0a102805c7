/** Evaluators: what scores the calls of a project by itself. Pure. */
import type { EvaluatorDefinition, EvaluatorResponse } from '../../schemas/evaluators/evaluator.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { toUsd } from '../access/budgets.ts'
import type { Principal } from '../access/permissions.ts'
import { parseLossless } from '../json/json-text.ts'
import { hashedUuid } from '../objects/hashed-uuid.ts'
import { hashFraction } from '../stats/hash-fraction.ts'

/** Times in microseconds since the epoch. */
export interface Evaluator {
  readonly id: string
  readonly project_id: string
  readonly name: string
  readonly version: number
  readonly definition_json: string
  readonly ref: string
  readonly monitor_ref: string | null
  readonly state: 'active' | 'paused'
  readonly principal_json: string
  readonly from_position: number
  readonly failures: number
  readonly retry_at_us: number
  readonly last_error: string | null
  readonly backfill_json: string | null
  readonly created_at_us: number
  readonly updated_at_us: number
}

/** What is scored later: the calls of a window, in order of their start. */
export interface Backfill {
  readonly state: 'running' | 'paused' | 'done'
  readonly from_us: number | null
  /** Exclusive. */
  readonly until_us: number
  readonly expected: number
  readonly queued: number
  /** null: no call was read yet. */
  readonly after: BackfillCursor | null
}

/** The last call that a backfill has read, in the order of starts and ids. */
export interface BackfillCursor {
  readonly started_at_us: number
  readonly id: string
  /** How many calls of this start were read; some may be deleted by now. */
  readonly calls: number
}

/** What an evaluator has done; money in 10^-9 dollars. */
export interface EvaluatorCounts {
  readonly scored: number
  readonly failed: number
  readonly dropped: number
  readonly waiting: number
  readonly spent_nanos: number
  readonly spent_today_nanos: number
}

const US_PER_DAY = 86_400_000_000

/** Returns the number of a day in UTC. */
export function dayOf(us: number): number {
  return Math.floor(us / US_PER_DAY)
}

/** Whether a trace is sampled: always the same for one trace and share, and for a greater share, too. */
export function isSampled(traceId: string, share: number): boolean {
  return hashFraction(traceId) < share
}

/** Returns the id of the result about one subject: the same for each try, so that it is stored once. */
export function resultId(
  { id, version }: Pick<Evaluator, 'id' | 'version'>,
  subjectId: string,
): string {
  return hashedUuid([id, version, subjectId])
}

/** Returns the definition of an evaluator; the value and the schema of a rule keep all digits of their numbers. */
export function definitionOf({
  definition_json,
}: Pick<Evaluator, 'definition_json'>): EvaluatorDefinition {
  return parseLossless(definition_json) as EvaluatorDefinition
}

export function principalOf({ principal_json }: Pick<Evaluator, 'principal_json'>): Principal {
  return JSON.parse(principal_json)
}

export function backfillOf({ backfill_json }: Pick<Evaluator, 'backfill_json'>): Backfill | null {
  return backfill_json === null ? null : JSON.parse(backfill_json)
}

/** Returns who pays: the caller, with no other rights than models in the project. */
export function toPayer(caller: Principal, project_id: string): Principal {
  const { keyId, svc_user_id, svc_username, models, limits } = caller
  return {
    keyId,
    svc_user_id,
    svc_username,
    scopes: ['inference'],
    projects: [project_id],
    ...(models === undefined ? {} : { models }),
    ...(limits === undefined ? {} : { limits }),
  }
}

export function renderEvaluator(
  evaluator: Evaluator,
  counts: EvaluatorCounts,
  nowUs: number,
): EvaluatorResponse {
  const { id, project_id, name, version, ref, monitor_ref, state, last_error } = evaluator
  const { scored, failed, dropped, waiting } = counts
  const backfill = backfillOf(evaluator)
  return {
    id,
    project_id,
    name,
    version,
    ref,
    monitor_ref,
    state,
    ...definitionOf(evaluator),
    scored,
    failed,
    dropped,
    waiting,
    spent_usd: toUsd(counts.spent_nanos),
    spent_today_usd: toUsd(counts.spent_today_nanos),
    retry_at: evaluator.retry_at_us > nowUs ? renderTimestamp(evaluator.retry_at_us) : null,
    last_error,
    backfill: backfill && {
      state: backfill.state,
      from: renderTimestampOrNull(backfill.from_us),
      until: renderTimestamp(backfill.until_us),
      expected: backfill.expected,
      queued: backfill.queued,
    },
    svc_user_id: principalOf(evaluator).svc_user_id,
    created_at: renderTimestamp(evaluator.created_at_us),
    updated_at: renderTimestamp(evaluator.updated_at_us),
  }
}

/** What the audit list shows of an evaluator. */
export function renderAudited(
  evaluator: Pick<Evaluator, 'name' | 'version' | 'state' | 'definition_json'>,
) {
  const { name, version, state } = evaluator
  return { name, version, state, definition: definitionOf(evaluator) }
}
