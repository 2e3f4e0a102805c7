/** What the tools of the Model Context Protocol read of evaluations. */
import type { z } from 'zod'
import { summarizeRows } from '../../domain/calls/evaluations/eval-summary.ts'
import { groupTrials } from '../../domain/calls/evaluations/eval-trials.ts'
import {
  EVALUATION_OPS,
  isOfKind,
  parseCall,
} from '../../domain/calls/evaluations/evaluation-calls.ts'
import { renderJson } from '../../domain/json/json-text.ts'
import { cutJson, renderToolList } from '../../domain/mcp/tool-text.ts'
import { ApiError } from '../../errors.ts'
import type {
  ListEvaluationsArguments,
  ReadEvaluationArguments,
} from '../../schemas/mcp/tool-arguments.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { createEvalReader, type EvalReaderOptions } from '../calls/eval-reads.ts'
import { openPages, type ReadOptions, type ToolCaller } from './tool-reads.ts'

/** Limit: characters of the summary of an evaluation. */
const SUMMARY_CHARS_MAX = 20_000

/** Lists the runs of evaluations, the newest first. */
export async function listEvaluations(
  { project_id, limit, offset, body_chars }: z.infer<typeof ListEvaluationsArguments>,
  caller: ToolCaller,
  options: ReadOptions,
): Promise<string> {
  const name = EVALUATION_OPS.evaluation_run
  const op_names = [name, `${options.refScheme}:///${project_id}/op/${name}:*`]
  const request = {
    project_id,
    filter: { op_names },
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
    columns: ['inputs', 'output', 'summary'],
    limit: limit + 1,
    offset,
  }
  const pages = await openPages(request, caller, options)
  async function* items() {
    for await (const page of pages) {
      for (const { call } of page) {
        const { inputs, exception } = parseCall(call)
        yield {
          id: call.id,
          trace_id: call.trace_id,
          name: call.display_name,
          evaluation: inputs.self ?? null,
          model: inputs.model ?? null,
          started_at: renderTimestamp(call.started_at_us),
          ended_at: renderTimestampOrNull(call.ended_at_us),
          exception: cutJson(renderJson(exception), body_chars),
          output: cutJson(call.output_json, body_chars),
        }
      }
    }
  }
  return renderToolList({ field: 'evaluations', offset, limit }, items())
}

/** Returns the scores of a run, summed up and by example. @throws ApiError call_not_found */
export async function readEvaluation(
  sent: z.infer<typeof ReadEvaluationArguments>,
  { reader }: ToolCaller,
  options: EvalReaderOptions,
): Promise<string> {
  const { evaluation_id, limit, offset, body_chars } = sent
  const results = createEvalReader(options, reader, null)
  const roots = await results.readRoots([evaluation_id])
  const isRun = roots.some((call) => isOfKind({ call, above: null }, 'evaluation_run'))
  if (!isRun) throw new ApiError('call_not_found', { param: 'evaluation_id' })
  const rows = groupTrials(await results.readTrials([evaluation_id], true))
  const [summary] = summarizeRows(rows, roots).evaluations
  async function* items() {
    for (const { raw_data_row, evaluations } of rows.slice(offset, offset + limit + 1)) {
      const trials = evaluations.flatMap((evaluation) => evaluation.trials)
      yield {
        example: cutJson(renderJson(raw_data_row), body_chars),
        trials: trials.map((trial) => ({
          call_id: trial.predict_and_score_call_id,
          output: cutJson(renderJson(trial.model_output), body_chars),
          scores: cutJson(renderJson(trial.scores), body_chars),
        })),
      }
    }
  }
  const list = await renderToolList({ field: 'examples', offset, limit }, items())
  const shown = renderJson(cutJson(renderJson(summary), SUMMARY_CHARS_MAX))
  return `{"summary":${shown},${list.slice(1)}`
}
