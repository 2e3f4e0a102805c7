/** Reads Arize Phoenix (20.26) by its REST API: spans, annotations of spans and traces, datasets and prompts. */
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import {
  filledTextOrNull,
  objectOrEmpty,
  textOrEmpty,
  textOrNull,
} from '../domain/json/json-values.ts'
import type { Span } from '../domain/otel/span.ts'
import { toSpanParts } from '../otel/read-request.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import { type ApiClient, createApiClient, type Json, objectsOf, type Query } from './api-client.ts'
import { toPrompt } from './prompts.ts'
import { TOO_LARGE, toScoreFeedback } from './scores.ts'
import {
  IMPORT_USER,
  type ImportedDataset,
  type ImportedObject,
  type ImportPage,
  type ImportSource,
  type SourceOptions,
} from './source.ts'
import { collectCalls } from './step-calls.ts'

/** Spans of a page. Their annotations are requested by span, in the address. */
const PAGE_SPANS = 100
const PAGE_ANNOTATIONS = 1000
const PAGE_VERSIONS = 100
const STATUS_CODES: Readonly<Record<string, number>> = { OK: 1, ERROR: 2 }

export function openPhoenix(options: SourceOptions): ImportSource {
  const key = options.readSecret('PHOENIX_API_KEY')
  const api = createApiClient(
    options.location,
    key === null ? {} : { authorization: `Bearer ${key}` },
  )
  const project = `/v1/projects/${encodeURIComponent(options.sourceName ?? 'default')}`
  return {
    stages: [
      { name: 'traces', pages: (after) => readSpans(api, project, options, after) },
      { name: 'datasets', pages: (after) => readDatasets(api, after) },
      { name: 'prompts', pages: (after) => readPrompts(api, after) },
    ],
    unread: [
      'resources and scopes of spans',
      'annotations of sessions and documents',
      'experiments',
      'splits and labels of datasets',
      'configurations of annotations',
    ],
  }
}

/** Pages of any list, each with the cursor of the next; '' ends. */
async function* pagesOf(api: ApiClient, path: string, query: Query, after: string | null) {
  let cursor = after
  do {
    const page = await api.get(path, { ...query, cursor: cursor || null })
    cursor = textOrEmpty(page.next_cursor)
    yield { items: objectsOf(page.data), cursor }
  } while (cursor !== '')
}

async function listAll(api: ApiClient, path: string, query: Query): Promise<Json[]> {
  const all: Json[] = []
  for await (const { items } of pagesOf(api, path, query, null)) all.push(...items)
  return all
}

async function* readSpans(
  api: ApiClient,
  project: string,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  const query = { limit: PAGE_SPANS, order: 'asc' }
  for await (const { items, cursor } of pagesOf(api, `${project}/spans`, query, after)) {
    const spans = items.map(toSpan)
    const { calls, left } = collectCalls(spans, (span) =>
      toSpanParts(span, options.project_id, { ...options, ...IMPORT_USER }),
    )
    const feedback: Feedback[] = []
    for (const [annotation, call_id] of await listAnnotations(api, project, spans)) {
      const score = toFeedback(annotation, call_id, options)
      if (score === null) left.add(TOO_LARGE)
      else feedback.push(score)
    }
    yield { calls, feedback, left: left.counts, cursor }
  }
}

/** A span of the REST API, whose attributes are flat, as OpenInference's conventions have it. */
function toSpan(item: Json): Span {
  const { trace_id, span_id } = objectOrEmpty(item.context)
  const kind = filledTextOrNull(item.span_kind)
  return {
    resource: {},
    scope: { name: '', version: '', attributes: {} },
    trace_id: textOrEmpty(trace_id),
    span_id: textOrEmpty(span_id),
    parent_span_id: filledTextOrNull(item.parent_id),
    trace_state: '',
    name: textOrEmpty(item.name),
    kind: 0,
    start_ns: toNs(item.start_time),
    end_ns: toNs(item.end_time),
    attributes: {
      ...(kind === null || kind === 'UNKNOWN' ? {} : { 'openinference.span.kind': kind }),
      ...objectOrEmpty(item.attributes),
    },
    events: objectsOf(item.events).map(({ name, timestamp, attributes }) => ({
      name: textOrEmpty(name),
      time_unix_nano: String(toNs(timestamp)),
      attributes: objectOrEmpty(attributes),
    })),
    links: [],
    status: {
      code: STATUS_CODES[textOrEmpty(item.status_code)] ?? 0,
      message: textOrEmpty(item.status_message),
    },
  }
}

function toNs(time: unknown): bigint {
  return BigInt(parseTimestampUs(textOrEmpty(time)) ?? 0) * 1000n
}

/** Annotations of spans, and those of traces at their roots, each with the id of its call. */
async function listAnnotations(
  api: ApiClient,
  project: string,
  spans: readonly Span[],
): Promise<[Json, string][]> {
  if (spans.length === 0) return []
  const limit = PAGE_ANNOTATIONS
  const roots = spans.filter(({ parent_span_id }) => parent_span_id === null)
  const idOfRoot = new Map(roots.map(({ trace_id, span_id }) => [trace_id, span_id]))
  const ofSpans = await listAll(api, `${project}/span_annotations`, {
    span_ids: spans.map(({ span_id }) => span_id),
    limit,
  })
  const ofTraces =
    idOfRoot.size === 0
      ? []
      : await listAll(api, `${project}/trace_annotations`, {
          trace_ids: [...idOfRoot.keys()],
          limit,
        })
  return [
    ...ofSpans.map((one) => [one, textOrEmpty(one.span_id)] as [Json, string]),
    ...ofTraces.map(
      (one) => [one, idOfRoot.get(textOrEmpty(one.trace_id)) ?? ''] as [Json, string],
    ),
  ]
}

function toFeedback(annotation: Json, call_id: string, options: SourceOptions): Feedback | null {
  const { id, name, annotator_kind, metadata, identifier, created_at, user_id } = annotation
  const { label, score, explanation } = objectOrEmpty(annotation.result)
  const isNote = name === 'note' && (label ?? null) === null && (score ?? null) === null
  return toScoreFeedback(
    {
      tool: 'phoenix',
      id: `${options.sourceName ?? 'default'} ${textOrEmpty(id)}`,
      call_id,
      name: textOrEmpty(name),
      created_at_us: parseTimestampUs(textOrEmpty(created_at)) ?? 0,
      creator: textOrNull(user_id) ?? textOrNull(annotator_kind),
      payload: {
        score: score ?? undefined,
        label: label ?? undefined,
        explanation: explanation ?? undefined,
        annotator_kind: annotator_kind ?? undefined,
        metadata: Object.keys(objectOrEmpty(metadata)).length === 0 ? undefined : metadata,
        identifier: filledTextOrNull(identifier) ?? undefined,
      },
      note: isNote ? explanation : undefined,
    },
    options,
  )
}

async function* readDatasets(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  for await (const { items, cursor } of pagesOf(api, '/v1/datasets', { limit: 10 }, after)) {
    for (const dataset of items) {
      const path = `/v1/datasets/${encodeURIComponent(textOrEmpty(dataset.id))}`
      const versions = await listAll(api, `${path}/versions`, { limit: PAGE_VERSIONS })
      for (const version of versions.reverse()) {
        const examples = await api.get(`${path}/examples`, {
          version_id: textOrEmpty(version.version_id),
        })
        yield { datasets: [toDataset(dataset, version, examples)], cursor: after }
      }
    }
    after = cursor
    yield { cursor }
  }
}

function toDataset(dataset: Json, version: Json, response: Json): ImportedDataset {
  return {
    name: textOrEmpty(dataset.name),
    description: textOrNull(dataset.description),
    created_at_us: parseTimestampUs(textOrEmpty(version.created_at)) ?? 0,
    rows: objectsOf(objectOrEmpty(response.data).examples).map(
      ({ id, input, output, metadata }) => ({ id, input, output, metadata }),
    ),
  }
}

async function* readPrompts(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  for await (const { items, cursor } of pagesOf(api, '/v1/prompts', { limit: 10 }, after)) {
    for (const prompt of items) {
      const path = `/v1/prompts/${encodeURIComponent(textOrEmpty(prompt.name))}/versions`
      const versions = await listAll(api, path, { limit: PAGE_VERSIONS })
      for (const version of versions.reverse()) {
        const tags = await listAll(
          api,
          `/v1/prompt_versions/${encodeURIComponent(textOrEmpty(version.id))}/tags`,
          { limit: PAGE_VERSIONS },
        )
        const objects = [toPromptObject(prompt, version, tags)]
        yield { objects, cursor: after }
      }
    }
    after = cursor
    yield { cursor }
  }
}

function toPromptObject(prompt: Json, version: Json, tags: readonly Json[]): ImportedObject {
  const { template, template_format, model_name, model_provider } = version
  const { messages, template: text } = objectOrEmpty(template)
  const name = textOrEmpty(prompt.name)
  return {
    name,
    created_at_us: null,
    aliases: tags.map((tag) => textOrEmpty(tag.name)),
    val: toPrompt({
      name,
      description: filledTextOrNull(version.description) ?? textOrNull(prompt.description),
      content: messages ?? textOrEmpty(text),
      rest: {
        template_format,
        model_name,
        model_provider,
        invocation_parameters: version.invocation_parameters,
        tools: version.tools,
        response_format: version.response_format,
      },
    }),
  }
}
