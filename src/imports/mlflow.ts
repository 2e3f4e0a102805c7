/** Reads MLflow (3.17) by its REST API: traces with assessments, evaluation datasets, and prompts of its registry. */
import { toDouble } from '../domain/json/json-text.ts'
import { filledTextOrNull, objectOrEmpty, textOrEmpty } from '../domain/json/json-values.ts'
import { parseText } from '../domain/otel/span-reader.ts'
import { type ApiClient, createApiClient, type Json, objectsOf } from './api-client.ts'
import { ownFields, readSpans, toPage } from './mlflow-traces.ts'
import { toPrompt } from './prompts.ts'
import type {
  ImportedDataset,
  ImportedObject,
  ImportPage,
  ImportSource,
  SourceOptions,
} from './source.ts'

/** Traces of a page, whose ids are in one address. */
const PAGE_TRACES = 20
const PAGE_RECORDS = 500
const PAGE_ITEMS = 50
const DEFAULT_EXPERIMENT = 'Default'
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
