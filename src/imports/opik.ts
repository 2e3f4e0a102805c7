/** Reads Opik by its REST API, as the Python client 2.2 does: traces and spans with scores, datasets and prompts. */
import { type CallParts, resolveTimedEnd, resolveTimedStart } from '../domain/calls/new-call.ts'
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import { isObject } from '../domain/json/is-object.ts'
import {
  filledTextOrNull,
  isGiven,
  objectOrEmpty,
  textOrEmpty,
  textOrNull,
} from '../domain/json/json-values.ts'
import { parseText } from '../domain/otel/span-reader.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import {
  type ApiClient,
  createApiClient,
  type Json,
  objectsOf,
  parseJson,
  type Query,
} from './api-client.ts'
import { toPrompt } from './prompts.ts'
import { nameOf, TOO_LARGE, toScoreFeedback } from './scores.ts'
import {
  IMPORT_USER,
  type ImportedDataset,
  type ImportedObject,
  type ImportPage,
  type ImportSource,
  type SourceOptions,
} from './source.ts'
import { collectCalls, isCallId } from './step-calls.ts'

/** Traces or spans of one request, which come as lines. */
const PAGE_STEPS = 200
const PAGE_ITEMS = 100
const DEFAULT_PROJECT = 'Default Project'
/** Limit: characters of the name of an operation. */
const OP_NAME_CHARS_MAX = 1024
const KINDS: Readonly<Record<string, string>> = {
  llm: 'llm',
  tool: 'tool',
  guardrail: 'guardrail',
  general: 'chain',
}
/** Before the names of what the provider has reported; a dot divides its levels. */
const ORIGINAL = 'original_usage.'
/** Fields of traces and spans that become fields of calls, or are sums that a call has otherwise. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...['id', 'trace_id', 'parent_span_id', 'name', 'type', 'start_time', 'end_time', 'input'],
  ...['output', 'model', 'provider', 'usage', 'error_info', 'thread_id', 'feedback_scores'],
  ...['span_feedback_scores', 'comments', 'total_estimated_cost', 'duration', 'project_id'],
  ...['created_at', 'last_updated_at', 'created_by', 'last_updated_by', 'span_count'],
  ...['llm_span_count', 'has_tool_spans', 'providers', 'visibility_mode', 'project_name'],
])

export function openOpik(options: SourceOptions): ImportSource {
  const [key, workspace] = ['OPIK_API_KEY', 'OPIK_WORKSPACE'].map(options.readSecret)
  const api = createApiClient(options.location, {
    ...(key ? { authorization: key } : {}),
    ...(workspace ? { 'comet-workspace': workspace } : {}),
  })
  return {
    stages: [
      { name: 'traces', pages: (after) => readSteps(api, 'traces', options, after) },
      { name: 'spans', pages: (after) => readSteps(api, 'spans', options, after) },
      { name: 'datasets', pages: (after) => readDatasets(api, after) },
      { name: 'prompts', pages: (after) => readPrompts(api, after) },
    ],
    unread: [
      'attachments',
      'experiments and optimizations',
      'scores of threads',
      'older versions of datasets',
      'annotation queues, alerts and rules',
    ],
  }
}

async function* readSteps(
  api: ApiClient,
  kind: 'traces' | 'spans',
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  let cursor = after
  do {
    const text = await api.postForText(`/v1/private/${kind}/search`, {
      project_name: options.sourceName ?? DEFAULT_PROJECT,
      limit: PAGE_STEPS,
      truncate: false,
      ...(cursor === null ? {} : { last_retrieved_id: cursor }),
    })
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    const steps = objectsOf(lines.map((line) => parseJson(line, `a line of ${kind}`)))
    cursor = steps.length < PAGE_STEPS ? '' : textOrEmpty(steps.at(-1)?.id)
    yield { ...toPage(steps, options), cursor }
  } while (cursor !== '')
}

function toPage(steps: readonly Json[], options: SourceOptions) {
  const { calls, left } = collectCalls(steps, (step) => toCall(step, options))
  const ids = new Set<unknown>(calls.map(({ start }) => start?.id))
  const feedback: Feedback[] = []
  for (const one of steps
    .filter(({ id }) => ids.has(id))
    .flatMap((step) => toFeedback(step, options))) {
    if (one === null) left.add(TOO_LARGE)
    else feedback.push(one)
  }
  return { calls, feedback, left: left.counts }
}

/** A trace is the root of its spans. @throws ApiError */
function toCall(step: Json, { project_id, refScheme }: SourceOptions): CallParts | null {
  const { input, output, end_time, type, provider } = step
  const id = textOrEmpty(step.id)
  const started_at_us = toUs(step.start_time)
  const trace_id = filledTextOrNull(step.trace_id) ?? id
  if (started_at_us === null || !isCallId(id) || !isCallId(trace_id)) return null
  const above = filledTextOrNull(step.parent_span_id)
  const ended_at_us = toUs(end_time)
  const rest = Object.entries(step).filter(
    ([name, value]) => isGiven(value) && !OWN_FIELDS.has(name),
  )
  const start = {
    project_id,
    id,
    trace_id,
    parent_id: above ?? (trace_id === id ? null : trace_id),
    thread_id: filledTextOrNull(step.thread_id),
    op_name: nameOf(textOrEmpty(step.name), OP_NAME_CHARS_MAX) ?? 'step',
    started_at_us,
    attributes: {
      ...(KINDS[textOrEmpty(type)] === undefined ? {} : { kind: KINDS[textOrEmpty(type)] }),
      ...(isGiven(provider) ? { provider } : {}),
      ...Object.fromEntries(rest),
    },
    inputs: {
      ...(isGiven(step.model) ? { model: step.model } : {}),
      ...(isObject(input) ? input : isGiven(input) ? { value: input } : {}),
    },
  }
  const end = {
    project_id,
    id,
    ended_at_us: ended_at_us ?? 0,
    output: output ?? null,
    exception: errorOf(step.error_info),
    summary: summaryOf(step),
  }
  return {
    start: resolveTimedStart(start, { id, trace_id, ...IMPORT_USER }, refScheme),
    end: ended_at_us === null ? null : resolveTimedEnd(end, refScheme),
  }
}

function errorOf(info: unknown): string | null {
  if (!isObject(info)) return null
  const { exception_type, message } = info
  return [exception_type, message].filter((part) => filledTextOrNull(part)).join(': ') || 'error'
}

/** Usage of spans that ask a model; that of traces is their sum. */
function summaryOf({ type, model, usage, provider, total_estimated_cost: cost }: Json): JsonObject {
  if (type !== 'llm' || !isObject(usage)) return {}
  const counts = Object.entries(usage).filter(([name]) => !name.startsWith(ORIGINAL))
  const counted = {
    ...originalOf(usage),
    ...Object.fromEntries(counts),
    ...(isGiven(provider) ? { provider } : {}),
    ...(Number(cost ?? 0) > 0 ? { cost } : {}),
  }
  return { usage: { [filledTextOrNull(model) ?? 'unknown']: { requests: 1, ...counted } } }
}

/** What the provider has reported inside of its counts, such as those of a cache. */
function originalOf(usage: Json): Json {
  const details: Record<string, unknown> = {}
  for (const [name, count] of Object.entries(usage)) {
    if (!name.startsWith(ORIGINAL)) continue
    const [first = '', second] = name.slice(ORIGINAL.length).split('.')
    if (second !== undefined) details[first] = { ...objectOrEmpty(details[first]), [second]: count }
    else if (first.startsWith('cache_')) details[first] = count
  }
  return details
}

/** Scores and comments. A score has no id: a call has one of a name. */
function toFeedback(step: Json, options: SourceOptions): (Feedback | null)[] {
  const call_id = textOrEmpty(step.id)
  const scores = objectsOf(step.feedback_scores).map((score) => ({
    id: `${call_id} ${textOrEmpty(score.name)}`,
    name: textOrEmpty(score.name),
    at: score.created_at,
    by: score.created_by,
    payload: {
      score: score.value,
      label: filledTextOrNull(score.category_name) ?? undefined,
      explanation: filledTextOrNull(score.reason) ?? undefined,
      annotator_kind: score.source ?? undefined,
      value_by_author: score.value_by_author ?? undefined,
    },
  }))
  const comments = objectsOf(step.comments).map(({ id, text, created_at, created_by }) => ({
    id: textOrEmpty(id),
    name: 'comment',
    at: created_at,
    by: created_by,
    payload: { comment: text },
    note: text,
  }))
  return [...scores, ...comments].map(({ at, by, ...item }) => {
    const created_at_us = toUs(at) ?? 0
    const creator = filledTextOrNull(by)
    return toScoreFeedback({ tool: 'opik', call_id, created_at_us, creator, ...item }, options)
  })
}

/** Lists by page number; a cursor is the number of the next. */
async function* pagesOf(api: ApiClient, path: string, query: Query, after: string | null) {
  for (let page = Number(after ?? 1); page > 0; ) {
    const found = await api.get(path, { ...query, page, size: PAGE_ITEMS })
    const items = objectsOf(found.content)
    page = items.length < PAGE_ITEMS ? 0 : page + 1
    yield { items, cursor: page === 0 ? '' : String(page) }
  }
}

async function* readDatasets(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  for await (const { items, cursor } of pagesOf(api, '/v1/private/datasets', {}, after)) {
    yield { datasets: items.map((one) => toDataset(api, one)), cursor }
  }
}

function toDataset(api: ApiClient, dataset: Json): ImportedDataset {
  return {
    name: textOrEmpty(dataset.name),
    description: textOrNull(dataset.description),
    created_at_us: toUs(dataset.last_updated_at) ?? 0,
    rows: readItems(api, textOrEmpty(dataset.id)),
  }
}

async function* readItems(api: ApiClient, id: string): AsyncGenerator<object> {
  const path = `/v1/private/datasets/${encodeURIComponent(id)}/items`
  for await (const { items } of pagesOf(api, path, { truncate: 'false' }, null)) {
    for (const item of items) yield { id: item.id, ...objectOrEmpty(item.data) }
  }
}

async function* readPrompts(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  for await (const { items, cursor } of pagesOf(api, '/v1/private/prompts', {}, after)) {
    const objects: ImportedObject[] = []
    for (const prompt of items) {
      const path = `/v1/private/prompts/${encodeURIComponent(textOrEmpty(prompt.id))}/versions`
      const versions: Json[] = []
      for await (const page of pagesOf(api, path, {}, null)) versions.push(...page.items)
      // They come with the newest first.
      objects.push(...versions.reverse().map((version) => toPromptObject(prompt, version)))
    }
    yield { objects, cursor }
  }
}

function toPromptObject(prompt: Json, version: Json): ImportedObject {
  const { template, template_structure, type, metadata, commit, change_description } = version
  const { tags, environments } = version
  const name = textOrEmpty(prompt.name)
  const isChat = (template_structure ?? prompt.template_structure) === 'chat'
  return {
    name,
    created_at_us: toUs(version.created_at),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    aliases: Array.isArray(environments) ? environments.map(String) : [],
    val: toPrompt({
      name,
      description: filledTextOrNull(change_description) ?? textOrNull(prompt.description),
      content: isChat ? parseText(template) : textOrEmpty(template),
      rest: { template_format: type, metadata, commit },
    }),
  }
}

function toUs(time: unknown): number | null {
  return parseTimestampUs(textOrEmpty(time))
}
