/**
 * Results of evaluations side by side: rows of a dataset with the predictions and scores of each evaluation.
 *
 * Spec: §2.5, §4.5 (calls; this route is an addition). Choice: the route of the public tracing clients.
 */
import { canUseProject, requireAccess } from '../../domain/access/permissions.ts'
import { hasAll, resolveEvalSelection } from '../../domain/calls/evaluations/eval-selection.ts'
import { summarizeRows } from '../../domain/calls/evaluations/eval-summary.ts'
import { groupTrials } from '../../domain/calls/evaluations/eval-trials.ts'
import { layerPrices } from '../../domain/prices/project-prices.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  EvalResultsRequest,
  EvalResultsResponse,
  type EvalRow,
} from '../../schemas/calls/eval-results.ts'
import { ProjectPath } from '../../schemas/primitives.ts'
import type { CallsQueryStore } from '../../store/api/calls/calls-query.ts'
import type { ObjectStore } from '../../store/api/objects/objects.ts'
import type { TableStore } from '../../store/api/objects/tables.ts'
import type { PriceStore } from '../../store/api/prices/prices.ts'
import { projectOf } from '../projects/project-path.ts'
import { createEvalReader, resolveRows } from './eval-reads.ts'

interface EvalResultsOptions {
  readonly callsQuery: CallsQueryStore
  /** For `include_costs`. */
  readonly prices: PriceStore
  /** For rows of datasets. */
  readonly objects: ObjectStore
  readonly tables: TableStore
}

export async function evalResultsRoutes(app: App, options: EvalResultsOptions): Promise<void> {
  app.post(
    '/v2/:entity/:project/eval_results/query',
    {
      schema: {
        tags: ['calls'],
        operationId: 'queryEvalResults',
        summary: 'Compare the results of evaluations row by row (addition to the spec).',
        params: ProjectPath,
        body: EvalResultsRequest,
        response: { 200: EvalResultsResponse },
      },
    },
    async (request, reply) => {
      const { body } = request
      const project_id = projectOf(request.params)
      const principal = requireAccess(request.principal, 'traces:read', project_id)
      const named = [...(body.evaluation_call_ids ?? []), ...(body.evaluation_run_ids ?? [])]
      const evaluations = [...new Set(named)]
      const selection = resolveEvalSelection(body, evaluations)
      const prices = body.include_costs
        ? layerPrices(await options.prices.listPrices(project_id))
        : null
      const reader = createEvalReader(options, openReadCaller(request, reply, project_id), prices)
      const trials = await reader.readTrials(evaluations, body.include_predict_and_score_children)
      const found = groupTrials(trials)
      const canRead = (projectId: string) => canUseProject(principal, projectId)
      const mustResolve =
        selection.readsInputs || (body.include_raw_data_rows && body.resolve_row_refs)
      const resolved = mustResolve ? await resolveRows(found, { ...options, canRead }) : null
      const all = (resolved?.rows ?? found).filter((row) => selection.isWanted(row))
      const among = (mustHaveAll: boolean) =>
        mustHaveAll ? all.filter((row) => hasAll(row, evaluations)) : all
      const { require_intersection } = body
      const rows = body.include_rows ? among(require_intersection).sort(selection.compare) : []
      const given = new Map(found.map(({ row_digest, raw_data_row }) => [row_digest, raw_data_row]))
      const show = (row: EvalRow): EvalRow => {
        if (!body.include_raw_data_rows) return { ...row, raw_data_row: null }
        return body.resolve_row_refs ? row : { ...row, raw_data_row: given.get(row.row_digest) }
      }
      const end = body.offset + (body.limit ?? rows.length)
      const isSummed = body.summary_require_intersection ?? require_intersection
      return {
        rows: rows.slice(body.offset, end).map(show),
        total_rows: rows.length,
        summary: body.include_summary
          ? summarizeRows(among(isSummed), await reader.readRoots(evaluations))
          : null,
        warnings: resolved?.warnings ?? [],
      }
    },
  )
}
