/** Reads MLflow (3.17) by its REST API: traces with assessments, evaluation datasets, and prompts of its registry. */
import type { CallParts } from '../domain/calls/new-call.ts'
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import { renderJson, toDouble } from '../domain/json/json-text.ts'
import { filledTextOrNull, objectOrEmpty, textOrEmpty } from '../domain/json/json-values.ts'
import { readJsonSpan } from '../domain/otel/otlp-json.ts'
import { type Span, SpanError } from '../domain/otel/span.ts'
import { parseText } from '../domain/otel/span-reader.ts'
import { toSpanParts } from '../otel/read-request.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import { type ApiClient, createApiClient, type Json, objectsOf } from './api-client.ts'
import { toPrompt } from './prompts.ts'
import { TOO_LARGE, toScoreFeedback } from './scores.ts'
import {
  createLeftCounts,
  IMPORT_USER,
  ImportError,
  type ImportedDataset,
  type ImportedObject,
  type ImportPage,
  type ImportSource,
  type SourceOptions,
} from './source.ts'

/** Traces of a page, whose ids are in one address. */
const PAGE_TRACES = 20
const PAGE_RECORDS = 500
const PAGE_ITEMS = 50
const DEFAULT_EXPERIMENT = 'Default'
const NO_SOURCE = { resource: {}, scope: { name: 'mlflow', version: '', attributes: {} } }
const IS_PROMPT = "tags.`mlflow.prompt.is_prompt` = 'true'"
/** Tag of a version of a prompt that has its text, or its messages as JSON. */
const PROMPT_TEXT = 'mlflow.prompt.text'

export function openMlflow(options: SourceOptions): ImportSource {
  const api = createApiClient(options.location, authorizationOf(options))
  return {
    stages: [
      { name: 'traces', pages: (after) => readTraces(api, options, after) },
      { name: 'datasets', pages: (after) => readDatasets(api, options, after) },
      { name: 'prompts', pages: (after) => readPrompts(api, after) },
    ],
    unread: [
      'runs with their metrics and artifacts',
      'models',
      'links of traces to runs and prompts',
      'attachments of spans',
      'scorers',
    ],
  }
}

function authorizationOf({ readSecret }: SourceOptions): Record<string, string> {
  const token = readSecret('MLFLOW_TRACKING_TOKEN')
  if (token !== null) return { authorization: `Bearer ${token}` }
  const [user, password] = ['MLFLOW_TRACKING_USERNAME', 'MLFLOW_TRACKING_PASSWORD'].map(readSecret)
  if (!user) return {}
  return { authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` }
}

async function findExperiment(api: ApiClient, { sourceName }: SourceOptions): Promise<string> {
  const experiment_name = sourceName ?? DEFAULT_EXPERIMENT
  const path = '/api/2.0/mlflow/experiments/get-by-name'
  const { experiment } = await api.get(path, { experiment_name })
  return textOrEmpty(objectOrEmpty(experiment).experiment_id)
}

async function* readTraces(
  api: ApiClient,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  const experiment_id = await findExperiment(api, options)
  let cursor = after
  do {
    const found = await api.post('/api/3.0/mlflow/traces/search', {
      locations: [{ type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id } }],
      max_results: PAGE_TRACES,
      order_by: ['timestamp_ms ASC'],
      ...(cursor === null ? {} : { page_token: cursor }),
    })
    const traces = await readSpans(api, objectsOf(found.traces))
    cursor = textOrEmpty(found.next_page_token)
    yield { ...toPage(traces, options), cursor }
  } while (cursor !== '')
}

interface ReadTrace {
  readonly info: Json
  /** Null where they cannot be had. */
  readonly spans: readonly Json[] | null
}

/** Traces with their spans. One that has none in the database would fail the request for all of them. */
async function readSpans(api: ApiClient, infos: readonly Json[]): Promise<ReadTrace[]> {
  const trace_ids = infos.filter(isInDatabase).map(({ trace_id }) => textOrEmpty(trace_id))
  const path = '/api/3.0/mlflow/traces/batchGet'
  const page = trace_ids.length === 0 ? {} : await api.get(path, { trace_ids })
  const traces: ReadTrace[] = objectsOf(page.traces).map(({ trace_info, spans }) => ({
    info: objectOrEmpty(trace_info),
    spans: objectsOf(spans),
  }))
  for (const info of infos) {
    if (!isInDatabase(info)) traces.push({ info, spans: await readArtifact(api, info) })
  }
  return traces
}

function isInDatabase({ tags }: Json): boolean {
  const location = objectOrEmpty(tags)['mlflow.trace.spansLocation']
  return location === 'TRACKING_STORE' || location === 'ARCHIVE_REPO'
}

/** The spans of a trace that its client has put into the artifact store, as an older one always does. */
async function readArtifact(api: ApiClient, { trace_id }: Json): Promise<readonly Json[] | null> {
  try {
    const path = '/ajax-api/2.0/mlflow/get-trace-artifact'
    const { spans } = await api.get(path, { request_id: textOrEmpty(trace_id) })
    return objectsOf(spans).map((span) => ({
      ...span,
      attributes: toPairs(span.attributes),
      events: objectsOf(span.events).map((one) => ({
        ...one,
        attributes: toPairs(one.attributes),
      })),
    }))
  } catch (error) {
    if (error instanceof ImportError && error.status !== null) return null
    throw error
  }
}

/** Attributes of an artifact are an object, whose values are JSON as texts. */
function toPairs(attributes: unknown): readonly Json[] {
  return Object.entries(objectOrEmpty(attributes)).map(([key, value]) => {
    const stringValue = typeof value === 'string' ? value : renderJson(value)
    return { key, value: { stringValue } }
  })
}

function toPage(traces: readonly ReadTrace[], options: SourceOptions) {
  const left = createLeftCounts()
  const calls: CallParts[] = []
  const feedback: Feedback[] = []
  for (const { info, spans } of traces) {
    if (spans === null) left.add('traces whose spans the server cannot read')
    let root = ''
    for (const item of spans ?? []) {
      try {
        const span = readJsonSpan(item, NO_SOURCE)
        if (span.parent_span_id === null) root = span.span_id
        const known = withTraceFields(span, info)
        calls.push(toSpanParts(known, options.project_id, { ...options, ...IMPORT_USER }))
      } catch (error) {
        if (!(error instanceof SpanError)) throw error
        left.add(`spans: ${error.message}`)
      }
    }
    for (const assessment of objectsOf(info.assessments)) {
      const call_id = filledTextOrNull(assessment.span_id) ?? root
      const one = call_id === '' ? null : toFeedback(assessment, call_id, options)
      if (one !== null) feedback.push(one)
      else left.add(call_id === '' ? 'assessments of traces without a root' : TOO_LARGE)
    }
  }
  return { calls, feedback, left: left.counts }
}

/** Session and user of the trace, on all of its spans; its own tags and metadata, on the root. */
function withTraceFields(span: Span, info: Json): Span {
  const metadata = objectOrEmpty(info.trace_metadata)
  const session = filledTextOrNull(metadata['mlflow.trace.session'])
  const user = filledTextOrNull(metadata['mlflow.trace.user'])
  const ofRoot = { tags: ownFields(info.tags), metadata: ownFields(metadata) }
  return {
    ...span,
    attributes: {
      ...span.attributes,
      ...(session === null ? {} : { 'session.id': session }),
      ...(user === null ? {} : { 'user.id': user }),
      ...(span.parent_span_id === null ? ofRoot : {}),
    },
  }
}

/** Without those of MLflow itself. */
function ownFields(fields: unknown): Json {
  const own = Object.entries(objectOrEmpty(fields)).filter(([name]) => !name.startsWith('mlflow.'))
  return Object.fromEntries(own)
}

function toFeedback(assessment: Json, call_id: string, options: SourceOptions): Feedback | null {
  const { assessment_id, assessment_name, create_time, rationale, metadata, valid } = assessment
  const { source_type, source_id } = objectOrEmpty(assessment.source)
  const expectation = assessment.expectation ?? null
  const { value, error } = objectOrEmpty(assessment.feedback)
  return toScoreFeedback(
    {
      tool: 'mlflow',
      id: textOrEmpty(assessment_id),
      call_id,
      name: textOrEmpty(assessment_name),
      created_at_us: parseTimestampUs(textOrEmpty(create_time)) ?? 0,
      creator: filledTextOrNull(source_id) ?? filledTextOrNull(source_type),
      payload: {
        ...(expectation === null
          ? { value: value ?? null, error: error ?? undefined }
          : { expectation: toExpected(objectOrEmpty(expectation)) }),
        explanation: filledTextOrNull(rationale) ?? undefined,
        annotator_kind: source_type ?? undefined,
        metadata: metadata ?? undefined,
        // Replaced by a later one.
        valid: valid === false ? false : undefined,
      },
    },
    options,
  )
}

/** Lists and objects are JSON as a text. */
function toExpected({ value, serialized_value }: Json): unknown {
  const serialized = objectOrEmpty(serialized_value)
  return serialized_value === undefined ? value : parseText(serialized.value)
}

async function* readDatasets(
  api: ApiClient,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  const experiment_ids = [await findExperiment(api, options)]
  let cursor = after
  do {
    const found = await api.post('/api/3.0/mlflow/datasets/search', {
      experiment_ids,
      max_results: PAGE_ITEMS,
      ...(cursor === null ? {} : { page_token: cursor }),
    })
    cursor = textOrEmpty(found.next_page_token)
    yield { datasets: objectsOf(found.datasets).map((one) => toDataset(api, one)), cursor }
  } while (cursor !== '')
}

function toDataset(api: ApiClient, dataset: Json): ImportedDataset {
  return {
    name: textOrEmpty(dataset.name),
    description: null,
    created_at_us: toUs(dataset.last_update_time),
    rows: readRecords(api, textOrEmpty(dataset.dataset_id)),
  }
}

/** The records of a page are JSON as a text. */
async function* readRecords(api: ApiClient, id: string): AsyncGenerator<object> {
  let page_token = ''
  do {
    const path = `/api/3.0/mlflow/datasets/${encodeURIComponent(id)}/records`
    const page = await api.get(path, { max_results: PAGE_RECORDS, page_token: page_token || null })
    page_token = textOrEmpty(page.next_page_token)
    for (const record of objectsOf(parseText(page.records))) {
      const { dataset_record_id, inputs, outputs, expectations, tags } = record
      yield { id: dataset_record_id, inputs, outputs, expectations, tags: ownFields(tags) }
    }
  } while (page_token !== '')
}

async function* readPrompts(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  let cursor = after
  do {
    const found = await api.get('/api/2.0/mlflow/registered-models/search', {
      filter: IS_PROMPT,
      max_results: PAGE_ITEMS,
      page_token: cursor,
    })
    const objects: ImportedObject[] = []
    for (const prompt of objectsOf(found.registered_models)) {
      const versions = await listVersions(api, textOrEmpty(prompt.name))
      objects.push(...versions.map((version) => toPromptObject(prompt, version)))
    }
    cursor = textOrEmpty(found.next_page_token)
    yield { objects, cursor }
  } while (cursor !== '')
}

/** The versions of a prompt, the oldest first. */
async function listVersions(api: ApiClient, name: string): Promise<Json[]> {
  const versions: Json[] = []
  let page_token = ''
  do {
    const page = await api.get('/api/2.0/mlflow/model-versions/search', {
      filter: `name = '${name.replaceAll("'", "''")}' and ${IS_PROMPT}`,
      max_results: PAGE_RECORDS,
      page_token: page_token || null,
    })
    versions.push(...objectsOf(page.model_versions))
    page_token = textOrEmpty(page.next_page_token)
  } while (page_token !== '')
  return versions.sort((left, right) => Number(left.version) - Number(right.version))
}

function toPromptObject(prompt: Json, version: Json): ImportedObject {
  const name = textOrEmpty(prompt.name)
  const tags = Object.fromEntries(objectsOf(version.tags).map(({ key, value }) => [key, value]))
  const { [PROMPT_TEXT]: text, _mlflow_prompt_type: type } = tags as Json
  const own = Object.entries(ownFields(tags)).filter(([key]) => !key.startsWith('_mlflow_'))
  const aliases = objectsOf(prompt.aliases).filter((one) => one.version === version.version)
  return {
    name,
    created_at_us: toUs(version.creation_timestamp),
    aliases: aliases.map(({ alias }) => textOrEmpty(alias)),
    val: toPrompt({
      name,
      description: filledTextOrNull(version.description),
      content: type === 'chat' ? parseText(text) : textOrEmpty(text),
      rest: {
        template_format: 'MUSTACHE',
        tags: own.length === 0 ? undefined : Object.fromEntries(own),
        response_format: parseText(tags._mlflow_prompt_response_format),
        model_config: parseText(tags._mlflow_prompt_model_config),
      },
    }),
  }
}

/** Milliseconds since the epoch, as numbers or texts. */
function toUs(ms: unknown): number {
  return Math.trunc(Number(toDouble(ms) ?? 0)) * 1000
}
