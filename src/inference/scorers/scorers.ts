/**
 * Scorers of every kind, for evaluators and for evaluations alike: from a definition and a subject to a score, or to an
 * error. No code of users runs.
 */
import { canUseModel } from '../../domain/access/permissions.ts'
import {
  readScore,
  type Score,
  type ScoredSubject,
  toScoreOutput,
} from '../../domain/evaluators/score.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../domain/json/json-limits.ts'
import { parseJsonPath } from '../../domain/json/json-path.ts'
import { parseLossless, renderJson } from '../../domain/json/json-text.ts'
import { ApiError, type ErrorCode, refuseField } from '../../errors.ts'
import { PrivateAddressError, type Webhooks } from '../../outbound/webhooks.ts'
import type { JudgeScorer, Scorer, WebhookScorer } from '../../schemas/evaluators/scorer.ts'
import { estimateJudge, type JudgeOptions, judge, type ScoreContext } from './judge.ts'
import { createChecks, scorerFailed, toRegex } from './rules.ts'

interface ScorersOptions extends Omit<JudgeOptions, 'checks'> {
  readonly webhooks: Webhooks
}

export interface Scorers {
  /**
   * Scores a subject.
   *
   * @throws ApiError scorer_failed where the scorer has no score for this subject; of the model of a judge;
   * webhook_failed. The reason of the signal
   */
  score(scorer: Scorer, subject: ScoredSubject, context: ScoreContext): Promise<Score>
  /**
   * Checks what a schema cannot: paths, patterns, JSON schemas, and that the caller may use the model of a judge.
   *
   * @param param - path of the scorer in the request
   * @throws ApiError validation_failed, model_not_found, model_forbidden
   */
  requireUsable(
    scorer: Scorer,
    context: Pick<ScoreContext, 'caller' | 'project_id'>,
    param: string,
  ): Promise<void>
  /** @returns what a judge costs for one of these subjects, at most; null: nothing is known */
  estimate: Estimate
  close(): Promise<void>
}

type Estimate = (
  scorer: JudgeScorer,
  subjects: readonly ScoredSubject[],
  context: Pick<ScoreContext, 'caller' | 'project_id'>,
) => Promise<number | null>

/** Failures that may pass: of models that are busy, slow, out of reach or out of money, and of webhooks. */
const PASSING: readonly ErrorCode[] = [
  'upstream_unreachable',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_auth',
  'upstream_rate_limited',
  'upstream_overloaded',
  'upstream_timeout',
  'server_overloaded',
  'server_draining',
  'store_unavailable',
  'rate_limit_exceeded',
  'budget_exceeded',
  'guard_unavailable',
  'webhook_failed',
]

/** Whether a later try of the same subject may succeed. */
export function mayPass(error: unknown): boolean {
  return error instanceof ApiError && PASSING.includes(error.code)
}

export function createScorers(options: ScorersOptions): Scorers {
  const checks = createChecks()
  const judging = { ...options, checks }

  async function requireRule(
    scorer: Extract<Scorer, { kind: 'rule' }>,
    param: string,
  ): Promise<void> {
    const { rule } = scorer
    if ('path' in rule) requirePath(rule.path, `${param}.rule.path`)
    if (rule.type === 'regex') {
      const fault = await checks.findFault({ type: 'regex', ...toRegex(rule), text: '' })
      if (fault !== null) refuseField(`${param}.rule.pattern`, 'must be a regular expression')
    }
    if (rule.type === 'json_schema') await requireSchema(rule.schema, `${param}.rule.schema`)
    if (rule.type !== 'equals' && rule.type !== 'similarity') return
    if (rule.expected_path !== undefined) {
      requirePath(rule.expected_path, `${param}.rule.expected_path`)
    } else if (rule.value === undefined) {
      refuseField(`${param}.rule.value`, 'is required where expected_path is absent')
    }
  }

  async function requireSchema(schema: object, param: string): Promise<void> {
    const fault = await checks.findFault({ type: 'schema', schema_json: JSON.stringify(schema) })
    if (fault !== null) refuseField(param, 'must be a JSON Schema of the draft 2020-12')
  }

  return {
    async score(scorer, subject, context) {
      context.signal.throwIfAborted()
      if (scorer.kind === 'rule') return checks.score(scorer, subject)
      if (scorer.kind === 'judge') return judge(scorer, subject, context, judging)
      return callWebhook(scorer, subject, context, options.webhooks)
    },
    async requireUsable(scorer, { caller, project_id }, param) {
      if (scorer.kind === 'rule') return requireRule(scorer, param)
      if (scorer.kind === 'webhook') return
      const { model, variables, output_schema } = scorer
      for (const [name, path] of Object.entries(variables)) {
        requirePath(path, `${param}.variables.${name}`)
      }
      await requireSchema(output_schema, `${param}.output_schema`)
      const served = await options.choice.choose(model, { caller, projectId: project_id })
      if (!canUseModel(caller, [served.id, ...served.aliases, model])) {
        throw new ApiError('model_forbidden', { param: `${param}.model` })
      }
    },
    estimate: (scorer, subjects, context) => estimateJudge(scorer, subjects, context, judging),
    async close() {
      await Promise.all([checks.close(), options.webhooks.close()])
    },
  }
}

function requirePath(path: string, param: string): void {
  if (parseJsonPath(path) !== null) return
  refuseField(param, 'must be a path such as $.output.choices[0].message.content')
}

/** The service gets `{"project_id": "", "scorer": {}, "subject": {}}`, and responds with an object, a number or a truth value. */
async function callWebhook(
  { url, timeout_ms: timeoutMs }: WebhookScorer,
  subject: ScoredSubject,
  { project_id, attributes, signal }: ScoreContext,
  webhooks: Webhooks,
): Promise<Score> {
  const body = renderJson({ project_id, scorer: attributes, subject })
  try {
    const { status, text } = await webhooks.post({ url, body, timeoutMs, signal })
    if (status !== 200) throw new Error(`the webhook responded with ${status}`)
    const value: unknown = exceedsDepth(text, JSON_DEPTH_MAX) ? null : parseLossless(text)
    if (!isScoreLike(value)) throw new Error('the webhook responded without a score')
    return readScore(toScoreOutput(value), { cost_usd: null, call_id: null })
  } catch (cause) {
    signal.throwIfAborted()
    const refused = cause instanceof Error ? cause.cause : null
    for (const error of [cause, refused]) {
      if (error instanceof PrivateAddressError) throw scorerFailed(`${error.message}.`, cause)
    }
    throw new ApiError('webhook_failed', { cause })
  }
}

function isScoreLike(value: unknown): boolean {
  return (
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (typeof value === 'object' && value !== null && !Array.isArray(value))
  )
}
