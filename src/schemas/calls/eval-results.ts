/** Tables of the results of evaluations on the wire. An addition to the spec, with the fields of the public tracing clients. */
import { z } from 'zod'
import { ClientId, Time, Total } from '../primitives.ts'
import { FieldPath, Query, SORT_TERMS_MAX } from '../query/query-expression.ts'

/** Limit: evaluations of one response. */
const EVALUATIONS_MAX = 100
const FILTERS_MAX = 50
/** Limit: rows of one response. */
const ROWS_MAX = 10_000

const ids = z.array(ClientId).max(EVALUATIONS_MAX, `must have at most ${EVALUATIONS_MAX} ids`)
const flag = (what: string, fallback = false) =>
  z.boolean().default(fallback).describe(`${what} Default ${fallback}.`)

const FIELDS = '`scores.<name>`, `inputs.<path>` or `outputs.<path>`'
const evaluation = ClientId.nullish()

const EvalResultsFilter = z
  .strictObject({
    query: Query.describe(`Condition on ${FIELDS} of a row.`),
    evaluation_call_id: evaluation.describe('Tests only the trials of this evaluation.'),
  })
  .meta({ id: 'EvalResultsFilter', description: 'A condition on rows.' })

const EvalResultsSort = z
  .strictObject({
    field: FieldPath.describe(
      `One of ${FIELDS}; of several trials numbers by their mean, else the last.`,
    ),
    direction: z.enum(['asc', 'desc']).describe('Direction; missing values come last in both.'),
    evaluation_call_id: evaluation.describe('Evaluation whose trials decide. Default: the first.'),
    mode: z
      .enum(['value', 'difference'])
      .default('value')
      .describe('Order by the value, or by the difference between the evaluations.'),
  })
  .meta({ id: 'EvalResultsSort', description: 'One term of an order of rows.' })

export const EvalResultsRequest = z
  .strictObject({
    evaluation_call_ids: ids.nullish().describe('Ids of the calls of evaluations.'),
    evaluation_run_ids: ids
      .nullish()
      .describe('More of them; the id of a run is that of its call.'),
    require_intersection: flag('Only rows that all of the evaluations have.'),
    include_rows: flag('Whether rows are told.', true),
    include_raw_data_rows: flag('Whether rows have what the model was given.'),
    resolve_row_refs: flag('Whether refs of rows of datasets are replaced by the rows.'),
    include_predict_and_score_children: flag(
      'Whether the calls of predictions and scores are looked for, which tell latency and tokens.',
      true,
    ),
    include_costs: flag('Whether predictions are priced; needs their calls.'),
    include_summary: flag('Whether scores are summed up by evaluation.'),
    summary_require_intersection: z
      .boolean()
      .nullish()
      .describe('The same for the summary. Default: require_intersection.'),
    filters: z
      .array(EvalResultsFilter)
      .max(FILTERS_MAX)
      .nullish()
      .describe('Conditions, all of which a row must meet.'),
    filter_logic_operator: z
      .enum(['and', 'or'])
      .default('or')
      .describe(
        'Whether a condition without an evaluation must hold in all evaluations or in any.',
      ),
    sort_by: z
      .array(EvalResultsSort)
      .max(SORT_TERMS_MAX, `must have at most ${SORT_TERMS_MAX} terms`)
      .nullish()
      .describe('Order of rows, ties by row_digest. Default: by row_digest.'),
    limit: z.int().min(0).max(ROWS_MAX).nullish().describe('Maximum number of rows.'),
    offset: z.int().min(0).default(0).describe('Number of rows to skip.'),
  })
  .meta({ id: 'EvalResultsRequest', description: 'Evaluations to compare.' })
export type EvalResultsRequest = z.infer<typeof EvalResultsRequest>

const text = z.string().nullable()
const callId = (what: string) => z.string().describe(`Id of the call of ${what}.`)
const anything = (what: string) => z.unknown().describe(what)

export const EvalTrial = z
  .object({
    predict_and_score_call_id: callId('the trial'),
    predict_call_id: text.describe('Id of the call of the prediction; null when not found.'),
    scorer_call_ids: z
      .record(z.string(), z.string())
      .describe('Ids of the calls of scorers, by score.'),
    model_output: anything('What the model gave.'),
    scores: z.record(z.string(), z.unknown()).describe('Results of scorers, by name.'),
    model_latency_seconds: z.number().nullable().describe('How long the prediction took.'),
    total_tokens: Total.nullable().describe('Tokens of the prediction, calls below it included.'),
    total_cost: z
      .number()
      .nullable()
      .describe('Its cost, USD; null when unknown or not requested.'),
    genai_span_ref: z.array(z.unknown()).nullable().describe('Always null.'),
  })
  .meta({ id: 'EvalTrial', description: 'One prediction for a row, with its scores.' })
export type EvalTrial = z.infer<typeof EvalTrial>

export const EvalRow = z
  .object({
    row_digest: z
      .string()
      .describe('Digest of the input of the model, by which rows of evaluations are matched.'),
    raw_data_row: anything('What the model was given; null when not asked for.'),
    evaluations: z
      .array(
        z.object({
          evaluation_call_id: callId('the evaluation'),
          trials: z.array(EvalTrial).describe('Its trials of the row, ordered by start.'),
        }),
      )
      .describe('The evaluations that have the row.'),
  })
  .meta({ id: 'EvalRow', description: 'A row of a dataset with its predictions and scores.' })
export type EvalRow = z.infer<typeof EvalRow>

const count = (what: string) => z.int().describe(what)

export const EvalScorerStats = z
  .object({
    scorer_key: z.string().describe('Name of the score.'),
    path: text.describe('Dotted path of a value inside it; null for the score itself.'),
    value_type: z.enum(['binary', 'continuous', 'text']).describe('Type of its values.'),
    trial_count: count('Trials that have it.'),
    numeric_count: count('Numbers among them.'),
    numeric_mean: z.number().nullable().describe('Their mean.'),
    pass_known_count: count('Values true or false.'),
    pass_true_count: count('Values true.'),
    pass_rate: z.number().nullable().describe('Fraction of them that is true.'),
    pass_signal_coverage: z.number().nullable().describe('Fraction of trials with true or false.'),
  })
  .meta({ id: 'EvalScorerStats', description: 'One kind of score of an evaluation.' })
export type EvalScorerStats = z.infer<typeof EvalScorerStats>

export const EvalSummary = z
  .object({
    row_count: count('Rows that are summed up.'),
    evaluations: z
      .array(
        z.object({
          evaluation_call_id: callId('the evaluation'),
          evaluation_ref: text.describe('Ref of the evaluation.'),
          model_ref: text.describe('Ref of the model.'),
          display_name: text.describe('Name of the call.'),
          trace_id: text.describe('Its trace.'),
          started_at: Time.nullable().describe('When it began.'),
          trial_count: count('Its trials.'),
          predict_total_tokens: z.int().nullable().describe('Tokens of its predictions.'),
          predict_total_cost: z.number().nullable().describe('Cost of its predictions, USD.'),
          scorer_stats: z.array(EvalScorerStats).describe('Each kind of score.'),
        }),
      )
      .describe('The evaluations that have rows.'),
  })
  .meta({ id: 'EvalSummary', description: 'Scores by evaluation.' })
export type EvalSummary = z.infer<typeof EvalSummary>

export const EvalResultsResponse = z
  .object({
    rows: z.array(EvalRow).describe('The page of rows.'),
    total_rows: count('Rows of all pages; 0 when rows are not told.'),
    summary: EvalSummary.nullable().describe('The summary; null when not requested.'),
    warnings: z.array(z.string()).describe('Messages about data that could not be read.'),
  })
  .meta({ id: 'EvalResultsResponse', description: 'A comparison of evaluations.' })
