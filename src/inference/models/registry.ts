/** The served models: maps names to backends and builds the listing. */
import type { ChatCapabilities } from '../../domain/chat/chat-rules.ts'
import type { AliasChoice } from '../../domain/models/served-alias.ts'
import { ApiError, type ErrorCode } from '../../errors.ts'
import { REASONING_EFFORTS } from '../../schemas/chat/chat-tool-fields.ts'
import type { ModelListEntry } from '../../schemas/models/model.ts'
import { createAnthropicBackend } from '../anthropic/backend.ts'
import type { Adapter, Capability, InferenceBackend } from '../backend.ts'
import type { GuardSettings } from '../chat/guard/guard-callback.ts'
import { createOpenAiBackend, type Upstream } from '../openai/backend.ts'
import { OTHER_TOOL_ENGINES } from '../openai/profiles.ts'
import { type ModelCache, toModelCache } from './model-cache.ts'
import type { ModelEntry } from './model-entry.ts'
import { readModelsFile } from './models-file.ts'
import { openPackageBackend } from './package-backend.ts'
import {
  readGuard,
  readUpstreams,
  type SecretsOptions,
  toRetryPolicy,
} from './upstream-settings.ts'

/** A model that can be served. */
export interface ServedModel {
  readonly id: string
  readonly aliases: readonly string[]
  readonly ownedBy: string
  /** Seconds since the epoch; the same on every answer. */
  readonly created: number
  readonly capabilities: ChatCapabilities
  readonly backend: InferenceBackend
  /** Kinds of requests it can answer. Default: those of the backend. */
  readonly offers?: readonly Capability[]
  /** The backend's name for the model. */
  readonly backendModel: string
  /** Adapter of the checkpoint that answers; only with a backend that takes adapters. Default null. */
  readonly adapter?: Adapter | null
  /** The name of the project by which it was chosen. Default: none. */
  readonly chosenBy?: AliasChoice
  /** The model name in all answers. Default: the requested name. */
  readonly answersAs?: string
  /** Names of the models to try when it fails. */
  readonly fallbacks: readonly string[]
  /** Codes of refusals after which fallbacks are tried, besides failures of the upstream. Default: none. */
  readonly fallbackOn?: readonly ErrorCode[]
  /** Completions that may run at once; null: any number. Default null. */
  readonly concurrentMax?: number | null
  /** How its completions are cached. Default: they are not. */
  readonly cache?: ModelCache
  /** What is asked before and after its chats. Default: nothing. */
  readonly guard?: GuardSettings
  /** Number of upstreams that serve it. Default 1. */
  readonly upstreamCount?: number
}

/**
 * Returns the name of a model at the provider that serves it, by which it has a price; null where that is its id. A model
 * of a server of one's own has none, whatever its name there.
 */
export function findUpstreamModel({ id, backend, backendModel }: ServedModel): string | null {
  const isListed = (backend.findProvider?.() ?? null) !== null
  return isListed && backendModel !== id ? backendModel : null
}

export interface ModelRegistry {
  /**
   * Returns the model with that id or alias; the default model for null or undefined.
   *
   * @throws ApiError model_not_found
   */
  getModel(name: string | null | undefined): ServedModel
  /** Returns the model with that id or alias, or null. */
  findModel(name: string): ServedModel | null
  /** Returns the listing entry for an id or alias. @throws ApiError model_not_found */
  getEntry(name: string): ModelListEntry
  /** Returns all models in the order of the file, without aliases. */
  listEntries(): readonly ModelListEntry[]
  /** Returns the backends of all models, each once. */
  backends(): ReadonlySet<InferenceBackend>
  /** Closes every backend once. */
  close(): Promise<void>
}

/**
 * Creates a registry of models with distinct names.
 *
 * @param models - at least one
 * @param defaultModel - one of them
 *
 * Spec: §4.3 model (null allowed), §4.7.
 * Choice: no model means the default model; an alias is found but not listed, its `root` is the id.
 */
export function createModelRegistry(
  models: readonly ServedModel[],
  defaultModel: ServedModel,
): ModelRegistry {
  const byName = new Map<string, ServedModel>()
  for (const model of models) {
    for (const name of [model.id, ...model.aliases]) byName.set(name, model)
  }

  function getModel(name: string | null | undefined): ServedModel {
    const model = name === null || name === undefined ? defaultModel : byName.get(name)
    if (model) return model
    const message = `The model \`${name}\` does not exist. GET /v1/models lists those that do.`
    throw new ApiError('model_not_found', { param: 'model', message })
  }

  const backends = () => new Set(models.map((model) => model.backend))

  return {
    getModel,
    findModel: (name) => byName.get(name) ?? null,
    getEntry: (name) => toEntry(getModel(name), name),
    listEntries: () => models.map((model) => toEntry(model, model.id)),
    backends,
    async close() {
      await Promise.all([...backends()].map((backend) => backend.close()))
    },
  }
}

/** Spec: §2.11. */
function toEntry(model: ServedModel, id: string): ModelListEntry {
  const { created, ownedBy, backend, backendModel } = model
  const details = backend.describeModel?.(backendModel) ?? {}
  return { id, object: 'model', created, owned_by: ownedBy, root: model.id, ...details }
}

export interface OpenModelsOptions extends SecretsOptions {
  /** Whether the file must exist. */
  readonly isRequired: boolean
  /** Creates the embedded backend; called at most once. */
  readonly createTiny: () => InferenceBackend
}

/** Creation time of the embedded model: 2026-01-01, so that the listing is the same on every machine. */
const TINY_CREATED = 1_767_225_600

const TINY_ENTRY: ModelEntry = {
  id: 'tiny',
  backend: 'tiny',
  aliases: [],
  owned_by: 'weft',
  tools: true,
  priority_scheduling: false,
  fallbacks: [],
  default: true,
}

/**
 * Opens the registry described by the models file; without a file it serves only `tiny`.
 *
 * @throws ModelsFileError
 */
export function openModelRegistry(options: OpenModelsOptions): ModelRegistry {
  const { path, isRequired, createTiny } = options
  const file = readModelsFile(path, isRequired)
  const { entries, changed } = file ?? { entries: [TINY_ENTRY], changed: TINY_CREATED }
  // All keys and certificates are read before anything is opened: a failure leaves nothing behind.
  const upstreams = new Map(
    entries.map((entry, index) => [entry, readUpstreams(entry, `models[${index}]`, options)]),
  )
  const guards = new Map(
    entries.map((entry, index) => [entry, readGuard(entry, `models[${index}].guard`, options)]),
  )
  let tiny: InferenceBackend | null = null
  const models = entries.map((entry): ServedModel => {
    const { id, aliases, owned_by: ownedBy, fallbacks } = entry
    const capabilities = toCapabilities(entry)
    const concurrentMax = entry.max_concurrent ?? null
    const served = { id, aliases, ownedBy, created: changed, capabilities }
    const offers = entry.capabilities === undefined ? {} : { offers: entry.capabilities }
    const guard = guards.get(entry)
    const guarded = guard === undefined ? {} : { guard }
    const fallbackOn = entry.fallback_on ?? []
    const extras = { ...toModelCache(entry), ...guarded, fallbackOn }
    const shared = { ...served, ...offers, ...extras, fallbacks, concurrentMax }
    if (entry.backend === 'tiny') {
      tiny ??= createTiny()
      return { ...shared, backend: tiny, backendModel: 'tiny' }
    }
    if (entry.backend === 'ai-sdk') {
      const backend = openPackageBackend(entry, `models[${entries.indexOf(entry)}]`, options)
      return { ...shared, backend, backendModel: entry.upstream_model ?? id }
    }
    const backend = createRelay(entry, upstreams.get(entry) ?? [])
    const upstreamCount = entry.upstreams?.length ?? 1
    return { ...shared, backend, backendModel: entry.upstream_model ?? id, upstreamCount }
  })
  const index = entries.findIndex((entry) => entry.default)
  return createModelRegistry(models, models[Math.max(index, 0)] as ServedModel)
}

type UpstreamModel = Extract<ModelEntry, { backend: 'openai' | 'anthropic' }>

function createRelay(entry: UpstreamModel, upstreams: readonly Upstream[]): InferenceBackend {
  const { unsupported, tools: callsTools, timeout_ms: timeoutMs, balance } = entry
  const retries = toRetryPolicy(entry.retries)
  const shared = { upstreams, unsupported, callsTools, timeoutMs, balance, retries }
  if (entry.backend === 'openai') return createOpenAiBackend({ ...shared, engine: entry.engine })
  const { max_tokens: maxTokens, thinking, headers = {} } = entry
  return createAnthropicBackend({ ...shared, maxTokens, thinking, headers })
}

/**
 * Spec: §4.3 reasoning_effort, logits_processors, tools.
 * Choice: the upstream validates efforts itself; the profile of its engine decides whether it takes processors, and
 * tools that are no functions.
 */
function toCapabilities(entry: ModelEntry): ChatCapabilities {
  return {
    tools: entry.tools,
    prioritySchedulingEnabled: entry.priority_scheduling,
    ...(entry.backend === 'anthropic' || entry.backend === 'ai-sdk'
      ? { reasoningEfforts: REASONING_EFFORTS }
      : {}),
    ...(entry.backend === 'openai'
      ? {
          reasoningEfforts: REASONING_EFFORTS,
          logitsProcessors: true,
          otherTools: OTHER_TOOL_ENGINES.includes(entry.engine),
        }
      : {}),
  }
}

/** After this time nothing can run on a replaced backend any more: an answer takes an hour at most. */
const RETIRED_MS = 2 * 3_600_000

export interface ReloadableRegistry extends ModelRegistry {
  /** Reads the models again. @throws what opening throws; the models then stay unchanged */
  reload(): void
}

/**
 * @param open - reads the models; called immediately and on each reload
 * @param shared - the backend shared by all readings; closed only at the end
 */
export function createReloadableRegistry(
  open: () => ModelRegistry,
  shared: InferenceBackend,
): ReloadableRegistry {
  let current = open()
  const retired = new Map<InferenceBackend, NodeJS.Timeout>()

  function retire(backend: InferenceBackend): void {
    const close = () => {
      retired.delete(backend)
      void backend.close()
    }
    retired.set(backend, setTimeout(close, RETIRED_MS).unref())
  }

  return {
    getModel: (name) => current.getModel(name),
    findModel: (name) => current.findModel(name),
    getEntry: (name) => current.getEntry(name),
    listEntries: () => current.listEntries(),
    backends: () => current.backends(),
    reload() {
      const old = current
      current = open()
      for (const backend of old.backends()) if (backend !== shared) retire(backend)
    },
    async close() {
      const backends = [...retired.keys(), ...current.backends(), shared]
      for (const timer of retired.values()) clearTimeout(timer)
      retired.clear()
      await Promise.all([...new Set(backends)].map((backend) => backend.close()))
    },
  }
}
