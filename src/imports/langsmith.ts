/** Reads LangSmith by its API, as the Python client 0.15 does: runs with feedback, datasets and prompts. */
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import { renderJson } from '../domain/json/json-text.ts'
import {
  filledTextOrNull,
  isGiven,
  objectOrEmpty,
  textOrEmpty,
  textOrNull,
} from '../domain/json/json-values.ts'
import type { Attributes } from '../domain/otel/span.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import { type ApiClient, createApiClient, type Json, objectsOf, type Query } from './api-client.ts'
import { toPrompt } from './prompts.ts'
import { TOO_LARGE, toScoreFeedback } from './scores.ts'
import {
  ImportError,
  type ImportedDataset,
  type ImportedObject,
  type ImportPage,
  type ImportSource,
  type SourceOptions,
} from './source.ts'
import { collectCalls, toStepCall } from './step-calls.ts'

const PAGE_RUNS = 100
const PAGE_ITEMS = 100
const DEFAULT_SESSION = 'default'
const FIELDS = [
  ...['id', 'trace_id', 'parent_run_id', 'name', 'run_type', 'start_time', 'end_time', 'error'],
  ...['inputs', 'outputs', 'extra', 'tags', 'events', 'reference_example_id', 'status'],
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'total_cost', 'first_token_time'],
]
/** Runs that ask a model; only their usage counts, since the runs around them have it, too. */
const MODEL_RUNS: ReadonlySet<unknown> = new Set(['llm', 'embedding'])
const ROLES: Readonly<Record<string, string>> = { Human: 'user', AI: 'assistant', System: 'system' }

export function openLangsmith(options: SourceOptions): ImportSource {
  const key = options.readSecret('LANGSMITH_API_KEY')
  const api = createApiClient(options.location, key === null ? {} : { 'x-api-key': key })
  return {
    stages: [
      { name: 'traces', pages: (after) => readRuns(api, options, after) },
      { name: 'datasets', pages: (after) => readDatasets(api, after) },
      { name: 'prompts', pages: (after) => readPrompts(api, after) },
    ],
    unread: [
      'attachments of runs and examples',
      'experiments beyond their runs',
      'older versions of datasets',
      'public prompts',
      'annotation queues',
      'rules and configurations of feedback',
    ],
  }
}

async function findSession(api: ApiClient, sourceName: string | null): Promise<string> {
  const name = sourceName ?? DEFAULT_SESSION
  const [session] = await api.list('/sessions', { name, limit: 1 })
  if (session === undefined) throw new ImportError(`LangSmith has no project ${name}`)
  return textOrEmpty(session.id)
}

async function* readRuns(
  api: ApiClient,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  const query = { session: [await findSession(api, options.sourceName)], select: FIELDS }
  let cursor = after
  do {
    const page = await api.post('/runs/query', {
      ...query,
      limit: PAGE_RUNS,
      ...(cursor === null ? {} : { cursor }),
    })
    const runs = objectsOf(page.runs)
    const { calls, left } = collectCalls(runs, (run) => toStepCall(toStep(run), options))
    const feedback: Feedback[] = []
    for await (const item of listFeedback(api, runs)) {
      const one = toFeedback(item, options)
      if (one === null) left.add(TOO_LARGE)
      else feedback.push(one)
    }
    cursor = textOrEmpty(objectOrEmpty(page.cursors).next)
    yield { calls, feedback, left: left.counts, cursor }
  } while (cursor !== '')
}

/** Attributes are those of LangSmith's tracing as OpenTelemetry. */
function toStep(run: Json) {
  const { id, trace_id, parent_run_id, name, start_time, end_time, error } = run
  return {
    id: textOrEmpty(id),
    trace_id: filledTextOrNull(trace_id) ?? textOrEmpty(id),
    parent_id: filledTextOrNull(parent_run_id),
    name: textOrEmpty(name),
    start_us: toUs(start_time),
    end_us: toUs(end_time),
    attributes: toAttributes(run),
    error: filledTextOrNull(error),
  }
}

function toAttributes(run: Json): Attributes {
  const { run_type, inputs, outputs, extra, tags, events, reference_example_id } = run
  const { metadata, invocation_params, ...rest } = objectOrEmpty(extra)
  const { usage_metadata, ls_model_name, ls_provider, ...own } = objectOrEmpty(metadata)
  const isModel = MODEL_RUNS.has(run_type)
  const [input, output] = isModel
    ? ['gen_ai.prompt', 'gen_ai.completion']
    : ['traceloop.entity.input', 'traceloop.entity.output']
  const model = ls_model_name ?? objectOrEmpty(invocation_params).model
  const attributes = {
    'langsmith.span.kind': run_type,
    [input as string]: renderJson(inputs ?? {}),
    [output as string]: isGiven(outputs) ? renderJson(outputs) : undefined,
    'gen_ai.request.model': model,
    'gen_ai.system': ls_provider,
    'langsmith.metadata.usage_metadata': isModel ? usageOf(run, usage_metadata) : undefined,
    'langsmith.tags': Array.isArray(tags) && tags.length > 0 ? tags : undefined,
    'langsmith.events': Array.isArray(events) && events.length > 0 ? events : undefined,
    'langsmith.reference_example_id': reference_example_id,
    'langsmith.invocation_params': invocation_params,
    'langsmith.extra': Object.keys(rest).length > 0 ? rest : undefined,
    ...Object.fromEntries(
      Object.entries(own).map(([key, value]) => [`langsmith.metadata.${key}`, value]),
    ),
  }
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => isGiven(value)))
}

/** What the client has reported, else what the server has counted. */
function usageOf(run: Json, reported: unknown): Json | undefined {
  const { prompt_tokens, completion_tokens, total_tokens, total_cost } = run
  const given = reported ?? objectOrEmpty(run.outputs).usage_metadata
  if (!isGiven(given) && !isGiven(prompt_tokens) && !isGiven(completion_tokens)) return undefined
  const counted = {
    input_tokens: prompt_tokens ?? 0,
    output_tokens: completion_tokens ?? 0,
    total_tokens,
  }
  const usage = isGiven(given) ? objectOrEmpty(given) : counted
  return { ...(isGiven(total_cost) ? { total_cost } : {}), ...usage }
}

/** Lists by offset, to a page that is not full. */
async function* listBy(
  read: (query: Query) => Promise<Json[]>,
  offset = 0,
): AsyncGenerator<{ items: Json[]; cursor: string }> {
  for (let from = offset; ; from += PAGE_ITEMS) {
    const items = await read({ limit: PAGE_ITEMS, offset: from })
    const isLast = items.length < PAGE_ITEMS
    yield { items, cursor: isLast ? '' : String(from + PAGE_ITEMS) }
    if (isLast) return
  }
}

async function* listFeedback(api: ApiClient, runs: readonly Json[]): AsyncGenerator<Json> {
  if (runs.length === 0) return
  const run = runs.map(({ id }) => textOrEmpty(id))
  for await (const { items } of listBy((query) => api.list('/feedback', { run, ...query }))) {
    yield* items
  }
}

function toFeedback(item: Json, options: SourceOptions): Feedback | null {
  const { id, run_id, key, score, value, comment, correction, extra } = item
  const { type, user_name, user_id, metadata } = objectOrEmpty(item.feedback_source)
  return toScoreFeedback(
    {
      tool: 'langsmith',
      id: textOrEmpty(id),
      call_id: textOrEmpty(run_id),
      name: textOrEmpty(key),
      created_at_us: toUs(item.created_at) ?? 0,
      creator: filledTextOrNull(user_name) ?? filledTextOrNull(user_id) ?? filledTextOrNull(type),
      payload: {
        score: score ?? undefined,
        value: value ?? undefined,
        explanation: filledTextOrNull(comment) ?? undefined,
        correction: correction ?? undefined,
        annotator_kind: type ?? undefined,
        metadata: Object.keys(objectOrEmpty(metadata)).length === 0 ? undefined : metadata,
        extra: extra ?? undefined,
      },
    },
    options,
  )
}

async function* readDatasets(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  const read = (query: Query) => api.list('/datasets', query)
  for await (const { items, cursor } of listBy(read, Number(after ?? 0))) {
    yield { datasets: items.map((one) => toDataset(api, one)), cursor }
  }
}

function toDataset(api: ApiClient, dataset: Json): ImportedDataset {
  return {
    name: textOrEmpty(dataset.name),
    description: textOrNull(dataset.description),
    created_at_us: toUs(dataset.modified_at) ?? toUs(dataset.created_at) ?? 0,
    rows: readExamples(api, textOrEmpty(dataset.id)),
  }
}

async function* readExamples(api: ApiClient, dataset: string): AsyncGenerator<object> {
  for await (const { items } of listBy((query) => api.list('/examples', { dataset, ...query }))) {
    for (const { id, inputs, outputs, metadata } of items) yield { id, inputs, outputs, metadata }
  }
}

async function* readPrompts(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  const filter = { is_public: 'false', is_archived: 'false' }
  const read = async (query: Query) =>
    objectsOf((await api.get('/repos/', { ...filter, ...query })).repos)
  for await (const { items, cursor } of listBy(read, Number(after ?? 0))) {
    const objects: ImportedObject[] = []
    for (const repo of items) objects.push(...(await listCommits(api, repo)))
    yield { objects, cursor }
  }
}

/** The versions of a prompt of the key's own workspace, the oldest first. */
async function listCommits(api: ApiClient, repo: Json): Promise<ImportedObject[]> {
  const name = textOrEmpty(repo.repo_handle)
  const path = `/commits/-/${encodeURIComponent(name)}/`
  const commits: Json[] = []
  const read = async (query: Query) => objectsOf((await api.get(path, query)).commits)
  for await (const { items } of listBy(read)) commits.push(...items)
  const objects: ImportedObject[] = []
  for (const commit of commits.reverse()) {
    const hash = textOrEmpty(commit.commit_hash)
    const { manifest } = await api.get(`${path}${encodeURIComponent(hash)}`)
    const description = textOrNull(commit.description) ?? textOrNull(repo.description)
    const content = contentOf(objectOrEmpty(manifest))
    const val = toPrompt({ name, description, content, rest: { manifest, commit: hash } })
    objects.push({ name, val, created_at_us: toUs(commit.created_at) })
  }
  return objects
}

/** The messages of a template of LangChain, or its text; what it has beside them stays in its manifest. */
function contentOf({ kwargs }: Json): unknown {
  const { messages, template } = objectOrEmpty(kwargs)
  if (!Array.isArray(messages)) return textOrEmpty(template)
  return objectsOf(messages).map((message) => {
    const name = Array.isArray(message.id) ? String(message.id.at(-1)) : ''
    const fields = objectOrEmpty(message.kwargs)
    const text = objectOrEmpty(objectOrEmpty(fields.prompt).kwargs).template
    const role = ROLES[name.replace(/Message(?:PromptTemplate)?$/, '')] ?? 'user'
    return { role, content: text ?? fields.content ?? `{${textOrEmpty(fields.variable_name)}}` }
  })
}

function toUs(time: unknown): number | null {
  return parseTimestampUs(textOrEmpty(time))
}
