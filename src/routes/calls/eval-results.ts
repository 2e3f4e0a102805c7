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
import type { Stores } from '../../store/api/stores.ts'
import { projectOf } from '../projects/project-path.ts'
import { createEvalReader, type EvalReaderOptions, resolveRows } from './eval-reads.ts'

export async function evalResultsRoutes(
  app: App,
  options: EvalReaderOptions & Pick<Stores, 'prices' | 'objects' | 'tables'>,
): Promise<void> {
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
      const found = groupTrials(
        await reader.readTrials(evaluations, body.include_predict_and_score_children),
      )
      const canRead = (projectId: string) => canUseProject(principal, projectId)
      const mustResolve =
        selection.readsInputs || (body.include_raw_data_rows && body.resolve_row_refs)
      const resolved = mustResolve
        ? await resolveRows(found, { ...options, canRead })
        : { rows: found, warnings: [] }
      const all = resolved.rows.filter((row) => selection.isWanted(row))
      const shared = all.filter((row) => hasAll(row, evaluations))
      const { require_intersection } = body
      const listed = body.include_rows ? (require_intersection ? shared : all) : []
      const rows = listed.toSorted(selection.compare)
      const summed = (body.summary_require_intersection ?? require_intersection) ? shared : all
      const end = body.offset + (body.limit ?? rows.length)
      return {
        rows: showRows(rows.slice(body.offset, end), found, body),
        total_rows: rows.length,
        summary: body.include_summary
          ? summarizeRows(summed, await reader.readRoots(evaluations))
          : null,
        warnings: resolved.warnings,
      }
    },
  )
}

/** Returns rows with the dataset's row, without it, or with its ref, which the stored rows contain. */
function showRows(
  rows: readonly EvalRow[],
  found: readonly EvalRow[],
  { include_raw_data_rows, resolve_row_refs }: EvalResultsRequest,
): EvalRow[] {
  if (!include_raw_data_rows) return rows.map((row) => ({ ...row, raw_data_row: null }))
  if (resolve_row_refs) return [...rows]
  const given = new Map(found.map(({ row_digest, raw_data_row }) => [row_digest, raw_data_row]))
  return rows.map((row) => ({ ...row, raw_data_row: given.get(row.row_digest) }))
}
