/**
 * A normal program on the unmodified npm SDK, run as a child process by weave-npm.socket.test.ts. It knows
 * of the server only by environment variables. Its last line of output is what it saw, as JSON.
 */
import {
  Dataset,
  Evaluation,
  EvaluationLogger,
  init,
  op,
  weaveAudio,
  weaveImage,
  withAttributes,
} from 'weave'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const WAV = Buffer.from('RIFF\u0000\u0000\u0000\u0000WAVEfmt ')

const client = await init('acme/npm')
const api = client.traceServerApi

/** Answers as a model would, with usage. */
const complete = op(
  async ({ prompt }: { prompt: string }) => ({
    model: 'gpt-4o',
    text: prompt.toUpperCase(),
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
  }),
  { name: 'complete', summarize: ({ model, usage }) => ({ usage: { [model]: usage } }) },
)
const inner = op(async (x: number) => x + 1, { name: 'inner' })
const outer = op(
  async (x: number) => {
    const { text } = await complete({ prompt: `größe ${x} 😀` })
    return { text, sum: (await inner(x)) + (await inner(x + 1)) }
  },
  { name: 'outer' },
)
const fail = op(
  async () => {
    throw new RangeError('out of range')
  },
  { name: 'fail' },
)
const count = op(
  async function* countTo(limit: number) {
    for (let n = 1; n <= limit; n++) yield n
  },
  {
    name: 'count',
    streamReducer: {
      initialStateFn: (): number[] => [],
      reduceFn: (state: number[], chunk: number) => [...state, chunk],
      finalizeFn: () => undefined,
    },
  },
)
const paint = op(async () => weaveImage({ data: PNG }), { name: 'paint' })
const speak = op(async () => weaveAudio({ data: WAV }), { name: 'speak' })

// Nested ops, attributes, an error, a stream, media.
const [nested, nestedCall] = await withAttributes({ tenant: 'blue' }, () => outer.invoke(1))
const failure = await fail().catch((error: unknown) => String(error))
const chunks: number[] = []
for await (const chunk of (await count(3)) as AsyncIterable<number>) chunks.push(chunk)
await paint()
await speak()

// A data set and an evaluation over it.
const rows = [
  { question: 'a', expected: 'A' },
  { question: 'b', expected: 'B' },
  { question: 'c', expected: 'x' },
]
const dataset = new Dataset({ name: 'letters', rows })
const isRight = op(
  async ({ modelOutput, datasetRow }: { modelOutput: string; datasetRow: { expected: string } }) =>
    modelOutput === datasetRow.expected,
  { name: 'isRight' },
)
const model = op(
  async ({ datasetRow }: { datasetRow: { question: string } }) =>
    (await complete({ prompt: datasetRow.question })).text,
  { name: 'model' },
)
const evaluation = new Evaluation({ dataset, scorers: [isRight] })
const evaluated = await evaluation.evaluate({ model, maxConcurrency: 2 })
const datasetRef = await dataset.save()
const datasetRows = []
for await (const row of await client.get(datasetRef)) datasetRows.push(row)

// An evaluation logged step by step, which sends feedback.
const logger = new EvaluationLogger({
  name: 'logged',
  model: { name: 'by-hand' },
  dataset: 'letters',
})
const prediction = await logger.logPredictionAsync({ question: 'a' }, 'A')
await prediction.logScore('accuracy', 0.75)
await prediction.finish()
await logger.logSummary({ note: 'done' })

await client.waitForBatchProcessing()

// Reading back, renaming, feedback and costs.
await client.updateCall(nestedCall.id, 'my call')
const { data: created } = await api.cost.costCreateCostCreatePost({
  project_id: 'acme/npm',
  costs: {
    'gpt-4o': {
      prompt_token_cost: 0.001,
      completion_token_cost: 0.0025,
      effective_date: '2020-01-01T00:00:00Z',
    },
  },
})
const { data: priced } = await api.cost.costQueryCostQueryPost({
  project_id: 'acme/npm',
  query: { $expr: { $eq: [{ $getField: 'llm_id' }, { $literal: 'gpt-4o' }] } },
})
const calls = await client.getCalls({ trace_ids: [nestedCall.trace_id] }, true)
const one = await client.getCall(nestedCall.id, true)
const weave_ref = `weave:///acme/npm/call/${nestedCall.id}`
const { data: reaction } = await api.feedback.feedbackCreateFeedbackCreatePost({
  project_id: 'acme/npm',
  weave_ref,
  feedback_type: 'wandb.reaction.1',
  payload: { emoji: '👍' },
})
const { data: feedback } = await api.feedback.feedbackQueryFeedbackQueryPost({
  project_id: 'acme/npm',
  query: { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: weave_ref }] } },
})

process.stdout.write(
  `\n${JSON.stringify({
    nested,
    nestedId: nestedCall.id,
    traceId: nestedCall.trace_id,
    failure,
    chunks,
    evaluated,
    datasetUri: datasetRef.uri(),
    datasetRows,
    costIds: created.ids,
    priced: priced.results,
    calls: calls.map(({ id, op_name }) => ({ id, op_name })),
    one: { display_name: one.display_name, summary: one.summary, wb_user_id: one.wb_user_id },
    reactionId: reaction.id,
    feedback: feedback.result,
  })}\n`,
)
