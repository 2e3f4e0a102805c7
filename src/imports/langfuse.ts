/** Reads Langfuse by its public API, as the Python client 5.0 does: observations, scores, datasets and prompts. */
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import {
  filledTextOrNull,
  objectOrEmpty,
  textOrEmpty,
  textOrNull,
} from '../domain/json/json-values.ts'
import { promptContent } from '../domain/langfuse/prompts.ts'
import { toScoreFeedback } from '../domain/langfuse/scores.ts'
import type { Attributes } from '../domain/otel/span.ts'
import { ApiError } from '../errors.ts'
import { PromptCreateRequest } from '../schemas/langfuse/prompt.ts'
import { ScoreBody } from '../schemas/langfuse/score.ts'
import { parseTimestampUs } from '../schemas/timestamp.ts'
import { type ApiClient, createApiClient, type Json, objectsOf, type Query } from './api-client.ts'
import { TOO_LARGE, tryFeedback } from './scores.ts'
import {
  createLeftCounts,
  type ImportedDataset,
  type ImportedObject,
  type ImportPage,
  type ImportSource,
  type SourceOptions,
} from './source.ts'
import { collectCalls, toStepCall } from './step-calls.ts'

const OBSERVATIONS = '/api/public/v2/observations'
const FIELDS = 'core,basic,time,io,metadata,model,usage,prompt,trace_context'
const PAGE_OBSERVATIONS = 100
const PAGE_ITEMS = 50
/** Values of metadata are cut at this length, unless their keys are requested. */
const METADATA_CHARS = 200
const WRONG = 'scores and prompts that cannot be stored'

export function openLangfuse(options: SourceOptions): ImportSource {
  const api = createApiClient(options.location, authorizationOf(options))
  return {
    stages: [
      { name: 'traces', pages: (after) => readObservations(api, options, after) },
      { name: 'scores', pages: (after) => readScores(api, options, after) },
      { name: 'datasets', pages: (after) => readDatasets(api, after) },
      { name: 'prompts', pages: (after) => readPrompts(api, after) },
    ],
    unread: [
      'names, inputs and outputs of traces that their observations do not have',
      'runs of datasets',
      'comments',
      'media',
      'configurations of scores, evaluators and models',
      'annotation queues',
    ],
  }
}

function authorizationOf({ readSecret }: SourceOptions): Record<string, string> {
  const [user, password] = ['LANGFUSE_PUBLIC_KEY', 'LANGFUSE_SECRET_KEY'].map(readSecret)
  if (!user || !password) return {}
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

async function* readObservations(
  api: ApiClient,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  let cursor = after
  do {
    const query = { fields: FIELDS, limit: PAGE_OBSERVATIONS, cursor }
    const first = await api.get(OBSERVATIONS, query)
    const cut = cutKeys(objectsOf(first.data))
    const page =
      cut.length === 0
        ? first
        : await api.get(OBSERVATIONS, { ...query, expandMetadata: cut.join(',') })
    const { calls, left } = collectCalls(objectsOf(page.data), (observation) =>
      toStepCall(toStep(observation), options),
    )
    cursor = textOrEmpty(objectOrEmpty(page.meta).cursor)
    yield { calls, left: left.counts, cursor }
  } while (cursor !== '')
}

/** Keys of metadata whose values may have been cut. */
function cutKeys(observations: readonly Json[]): string[] {
  const entries = observations.flatMap(({ metadata }) => Object.entries(objectOrEmpty(metadata)))
  const isCut = (value: unknown) => typeof value === 'string' && value.length >= METADATA_CHARS
  return [...new Set(entries.flatMap(([key, value]) => (isCut(value) ? [key] : [])))]
}

/** The observation with attributes as the SDKs set them on spans. */
function toStep(observation: Json) {
  const { id, traceId, parentObservationId, name, startTime, endTime } = observation
  const { level, statusMessage } = observation
  const start_us = toUs(startTime)
  return {
    id: textOrEmpty(id),
    trace_id: filledTextOrNull(traceId) ?? textOrEmpty(id),
    parent_id: filledTextOrNull(parentObservationId),
    name: textOrEmpty(name),
    start_us,
    // An event has no end; its moment is both.
    end_us: toUs(endTime) ?? (observation.type === 'EVENT' ? start_us : null),
    attributes: toAttributes(observation),
    error: level === 'ERROR' ? (filledTextOrNull(statusMessage) ?? 'error') : null,
  }
}

function toAttributes(observation: Json): Attributes {
  const { type, input, output, model, modelParameters, usageDetails, costDetails } = observation
  const { metadata, userId, sessionId, traceName, tags, release, version, environment } =
    observation
  const { level, statusMessage, completionStartTime, promptName, promptVersion } = observation
  const attributes = {
    'langfuse.observation.type': textOrEmpty(type).toLowerCase(),
    'langfuse.observation.input': input,
    'langfuse.observation.output': output,
    'langfuse.observation.model.name': model,
    'langfuse.observation.model.parameters': modelParameters,
    'langfuse.observation.usage_details': emptyAsNull(usageDetails),
    'langfuse.observation.cost_details': emptyAsNull(costDetails),
    'langfuse.observation.metadata': emptyAsNull(metadata),
    'langfuse.observation.level': level === 'DEFAULT' ? null : level,
    'langfuse.observation.status_message': statusMessage,
    'langfuse.observation.completion_start_time': completionStartTime,
    'langfuse.observation.prompt.name': promptName,
    'langfuse.observation.prompt.version': promptVersion,
    'langfuse.user.id': userId,
    'session.id': sessionId,
    'langfuse.trace.name': traceName,
    'langfuse.trace.tags': Array.isArray(tags) && tags.length === 0 ? null : tags,
    'langfuse.release': release,
    'langfuse.version': version,
    'langfuse.environment': environment,
  }
  const given = Object.entries(attributes).filter(([, value]) => (value ?? null) !== null)
  return Object.fromEntries(given)
}

function emptyAsNull(value: unknown): unknown {
  return Object.keys(objectOrEmpty(value)).length === 0 ? null : value
}

async function* readScores(
  api: ApiClient,
  options: SourceOptions,
  after: string | null,
): AsyncGenerator<ImportPage> {
  let cursor = after
  do {
    const query = { fields: 'details,subject,annotation', limit: PAGE_OBSERVATIONS, cursor }
    const page = await api.get('/api/public/v3/scores', query)
    const left = createLeftCounts()
    const feedback: Feedback[] = []
    for (const score of objectsOf(page.data)) {
      const one = toFeedback(score, options)
      if (typeof one === 'string') left.add(one)
      else feedback.push(one)
    }
    cursor = textOrEmpty(objectOrEmpty(page.meta).cursor)
    yield { feedback, left: left.counts, cursor }
  } while (cursor !== '')
}

/** The same feedback as of a score that an SDK sends; or why there is none. */
function toFeedback(score: Json, options: SourceOptions): Feedback | string {
  const subject = objectOrEmpty(score.subject)
  const ids = {
    observationId: subject.kind === 'observation' ? subject.id : null,
    traceId: subject.kind === 'trace' ? subject.id : subject.traceId,
    sessionId: subject.kind === 'session' ? subject.id : null,
    datasetRunId: subject.kind === 'experiment' ? subject.id : null,
  }
  const body = ScoreBody.safeParse({ ...score, ...ids })
  const created_at_us = toUs(score.timestamp)
  if (!body.success || created_at_us === null) return WRONG
  try {
    const { project_id, refScheme } = options
    const request = toScoreFeedback(body.data, { project_id, refScheme, nowUs: created_at_us })
    return tryFeedback(request, { id: textOrEmpty(score.id), created_at_us }, options) ?? TOO_LARGE
  } catch (error) {
    if (error instanceof ApiError) return WRONG
    throw error
  }
}

/** Lists by page number; a cursor is the number of the next. */
async function* pagesOf(api: ApiClient, path: string, query: Query, after: string | null) {
  for (let page = Number(after ?? 1); page > 0; ) {
    const found = await api.get(path, { ...query, page, limit: PAGE_ITEMS })
    const items = objectsOf(found.data)
    page = page < Number(objectOrEmpty(found.meta).totalPages ?? 0) ? page + 1 : 0
    yield { items, cursor: page === 0 ? '' : String(page) }
  }
}

async function* readDatasets(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  for await (const { items, cursor } of pagesOf(api, '/api/public/v2/datasets', {}, after)) {
    yield { datasets: items.map((one) => toDataset(api, one)), cursor }
  }
}

function toDataset(api: ApiClient, dataset: Json): ImportedDataset {
  const name = textOrEmpty(dataset.name)
  return {
    name,
    description: textOrNull(dataset.description),
    created_at_us: toUs(dataset.updatedAt) ?? 0,
    rows: readItems(api, name),
  }
}

async function* readItems(api: ApiClient, datasetName: string): AsyncGenerator<object> {
  const path = '/api/public/dataset-items'
  for await (const { items } of pagesOf(api, path, { datasetName }, null)) {
    for (const { id, input, expectedOutput, metadata, status } of items) {
      if (status === 'ARCHIVED') continue
      yield { id, input, expected_output: expectedOutput, metadata }
    }
  }
}

async function* readPrompts(api: ApiClient, after: string | null): AsyncGenerator<ImportPage> {
  for await (const { items, cursor } of pagesOf(api, '/api/public/v2/prompts', {}, after)) {
    const left = createLeftCounts()
    const objects: ImportedObject[] = []
    for (const { name, versions } of items) {
      const numbers = (Array.isArray(versions) ? versions : []).map(Number).sort((a, b) => a - b)
      for (const version of numbers) {
        const path = `/api/public/v2/prompts/${encodeURIComponent(textOrEmpty(name))}`
        // Otherwise the texts of other prompts that it names are put into it.
        const prompt = toPromptObject(await api.get(path, { version, resolve: 'false' }))
        if (prompt === null) left.add(WRONG)
        else objects.push(prompt)
      }
    }
    yield { objects, left: left.counts, cursor }
  }
}

/** The same object as of a prompt that an SDK creates; null for one that cannot be stored. */
function toPromptObject(prompt: Json): ImportedObject | null {
  const { data } = PromptCreateRequest.safeParse({ ...prompt, tags: null, labels: null })
  if (data === undefined) return null
  const created_at_us = toUs(prompt.createdAt)
  const { labels, tags } = prompt
  return {
    name: data.name,
    // Without its time two versions of the same content would be one.
    val: promptContent(data, created_at_us ?? Number(prompt.version)),
    created_at_us,
    aliases: Array.isArray(labels) ? labels.map(String) : [],
    tags: Array.isArray(tags) ? tags.map(String) : [],
  }
}

function toUs(time: unknown): number | null {
  return parseTimestampUs(textOrEmpty(time))
}
