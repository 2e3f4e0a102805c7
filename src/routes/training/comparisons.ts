/** Comparisons of models on the prompts that training has held out. An addition to the spec. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { definitionOf } from '../../domain/evaluators/evaluator.ts'
import { listHeldOutPrompts } from '../../domain/training/traffic/held-out-prompts.ts'
import { ApiError, refuseField } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import type { Scorer } from '../../schemas/evaluators/scorer.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import {
  ComparisonCreateRequest,
  ComparisonCreateResponse,
  ComparisonListResponse,
  ComparisonPath,
  ComparisonQuery,
  ComparisonResponse,
} from '../../schemas/training/comparison.ts'
import type { EvaluationJob } from '../../store/api/evaluations/evaluation-jobs.ts'
import type { EvaluatorStore } from '../../store/api/evaluators/evaluators.ts'
import {
  beginJob,
  requireRunner,
  type ServerEvaluations,
} from '../evaluations/server-evaluations.ts'
import { readTrajectories, type TrajectorySourceOptions } from './trajectory-source.ts'

export interface ComparisonRoutesOptions extends TrajectorySourceOptions {
  readonly evaluations: ServerEvaluations
  readonly evaluators: EvaluatorStore
}

const tags = ['preview']
const url = '/v1/preview/comparisons'
/** Limit: characters of the prompts as JSON, which the job keeps in its row. */
const PROMPT_CHARS_MAX = 4 * 1024 * 1024
/** Limit: responses of one comparison. */
const REQUESTS_MAX = 20_000
/** Limit: comparisons of a list. */
const LISTED_MAX = 100

export async function comparisonRoutes(app: App, options: ComparisonRoutesOptions): Promise<void> {
  addCreate(app, options)
  addList(app, options)
  addGet(app, options)
}

function addCreate(
  app: App,
  { evaluations, evaluators, ...options }: ComparisonRoutesOptions,
): void {
  app.post(
    url,
    {
      config: { body: 'exact' },
      schema: {
        tags,
        operationId: 'createComparison',
        summary:
          'Compare models by the rewards of new responses to held-out prompts (addition to the spec).',
        description:
          'It runs in the background, is resumed after a restart from its beginning, and `/evaluations/cancel` ends it.',
        body: ComparisonCreateRequest,
        response: { 200: ComparisonCreateResponse },
      },
    },
    async (request, reply) => {
      const { project_id, compare, samples, prompts_max, seed, ...sent } = request.body
      requireAccess(request.principal, 'training', project_id)
      const caller = requireRunner(request, project_id)
      const { scorers, predicting } = evaluations
      const scorer = await readScorer(sent, project_id, evaluators)
      await scorers.requireUsable(scorer, { caller, project_id }, 'scorer')
      const asker = { caller, projectId: project_id }
      for (const name of compare) await predicting.choice.choose(name, asker)
      const from = { request, reply, isTrainableOnly: false }
      const { heldOut, stats } = await readTrajectories(request.body, from, options)
      const prompts = listHeldOutPrompts(heldOut, { max: prompts_max, seed })
      if (prompts.length === 0) refuseField('held_out', 'leaves no prompt out: take more calls')
      if (JSON.stringify(prompts).length > PROMPT_CHARS_MAX) {
        refuseField('prompts_max', `asks prompts of more than ${PROMPT_CHARS_MAX} characters`)
      }
      const { max_tokens, temperature } = sent
      const parameters = { max_tokens, temperature }
      const total_rows = prompts.length * samples * compare.length
      if (total_rows > REQUESTS_MAX) {
        refuseField('samples', `makes ${total_rows} requests; ${REQUESTS_MAX} are allowed`)
      }
      const work = {
        kind: 'compare',
        models: compare,
        prompts,
        scorer,
        samples,
        parameters,
        seed,
      } as const
      const id = await beginJob(evaluations, { work, total_rows, project_id, caller })
      return { id, prompts: prompts.length, requests: total_rows, stats }
    },
  )
}

/** @throws ApiError validation_failed for neither of the two, evaluator_not_found */
async function readScorer(
  {
    scorer,
    evaluator_id,
  }: { readonly scorer?: Scorer | null; readonly evaluator_id?: string | null },
  project_id: string,
  evaluators: EvaluatorStore,
): Promise<Scorer> {
  if (scorer) return scorer
  if (!evaluator_id) refuseField('scorer', 'is required where evaluator_id is absent')
  const found = await evaluators.findEvaluator(evaluator_id)
  if (found?.project_id === project_id) return definitionOf(found).scorer
  throw new ApiError('evaluator_not_found', { param: 'evaluator_id' })
}

function addGet(app: App, { evaluations }: ComparisonRoutesOptions): void {
  app.get(
    `${url}/:comparison_id`,
    {
      schema: {
        tags,
        operationId: 'readComparison',
        summary: 'Read a comparison of models (addition to the spec).',
        params: ComparisonPath,
        querystring: ComparisonQuery,
        response: { 200: ComparisonResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'training', project_id)
      requireAccess(request.principal, 'traces:read', project_id)
      const { evaluationJobs } = evaluations.stores
      const job = await evaluationJobs.findJob(project_id, request.params.comparison_id)
      if (job?.work.kind !== 'compare') {
        throw new ApiError('comparison_not_found', { param: 'comparison_id' })
      }
      return renderComparison(job)
    },
  )
}

function addList(app: App, { evaluations }: ComparisonRoutesOptions): void {
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listComparisons',
        summary: 'List comparisons of models that have ended (addition to the spec).',
        querystring: ComparisonQuery,
        response: { 200: ComparisonListResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'training', project_id)
      requireAccess(request.principal, 'traces:read', project_id)
      const { evaluationJobs } = evaluations.stores
      const jobs = await evaluationJobs.listEndedComparisons(project_id, LISTED_MAX)
      return { comparisons: jobs.map(renderComparison) }
    },
  )
}

function renderComparison(job: EvaluationJob): ComparisonResponse {
  const { id, state, completed_rows: completed, total_rows: requests, error, work } = job
  const models = work.kind === 'compare' ? [...work.models] : []
  const result = job.output_json === null ? null : JSON.parse(job.output_json)
  const created_at = renderTimestamp(job.created_at_us)
  return { id, models, created_at, state, completed, requests, error, result }
}
