/**
 * Resolves a model name for a caller: to a model from the models file, to what a project serves by the name, or to a
 * checkpoint of a model trained here. The latter two are read from the store for each request.
 */
import { canUseModel, canUseProject, type Principal } from '../../domain/access/permissions.ts'
import type { PreviewModel } from '../../domain/models/preview-model.ts'
import { chooseArm, type ServedAlias } from '../../domain/models/served-alias.ts'
import {
  parseTrainedModelName,
  renderTrainedModelName,
  type TrainedModelName,
} from '../../domain/models/trained-model-name.ts'
import { ApiError } from '../../errors.ts'
import type { ModelListEntry } from '../../schemas/models/model.ts'
import type { CheckpointStore, PreviewModelStore } from '../../store/api/models/checkpoints.ts'
import type { ServedAliasStore } from '../../store/api/models/served-aliases.ts'
import type { Adapter } from '../backend.ts'
import type { ModelRegistry, ServedModel } from './registry.ts'

interface ModelChoiceOptions {
  readonly registry: ModelRegistry
  readonly trained: PreviewModelStore
  readonly checkpoints: CheckpointStore
  readonly servedAliases: Pick<ServedAliasStore, 'findAlias' | 'listAliases'>
}

/** The caller and the project of the request; null if it names none. */
export interface ModelCaller {
  readonly caller: Principal
  readonly projectId: string | null
  /** Body of the request, by which an alias with a candidate chooses. Default: none. */
  readonly body?: unknown
  /** Whether names of projects are none, so that these do not name each other. Default false. */
  readonly isPlain?: boolean
}

export interface ModelChoice {
  /**
   * Returns the model of a name, the default model for null or undefined; a promise for names that
   * the models file does not have.
   *
   * @throws ApiError model_not_found, model_forbidden; invalid_value when several projects have a trained model of this name
   */
  choose(
    name: string | null | undefined,
    modelCaller: ModelCaller,
  ): ServedModel | Promise<ServedModel>
  /** Returns the listing entry for a name. @throws what `choose` throws */
  describe(name: string, modelCaller: ModelCaller): Promise<ModelListEntry>
  /** Returns the names of the project, and the trained models that the caller may use, newest first. */
  listStored(modelCaller: ModelCaller): Promise<ModelListEntry[]>
}

/** A checkpoint that can be served, with the model it belongs to. */
interface Found {
  readonly model: PreviewModel
  readonly served: ServedModel
}

/** Limit: trained models in a listing. */
const MODELS_LISTED_MAX = 100
/** Limit: steps per trained model in a listing. */
const STEPS_LISTED_MAX = 20
/** The step of a model without a checkpoint: its base model. */
const BASE_STEP = 0

/** Models that were trained here. */
function createTrainedModels({ registry, trained, checkpoints }: ModelChoiceOptions) {
  /** Returns the base of a trained model if checkpoints of that base can be served. */
  function findBase({ base_model }: PreviewModel): ServedModel | null {
    const base = registry.findModel(base_model)
    return base?.backend.takesAdapters === true ? base : null
  }

  /** Returns the names of all models whose checkpoints can be served. */
  function listBases(): string[] {
    const served = registry.listEntries().map(({ id }) => registry.getModel(id))
    const bases = served.filter(({ backend }) => backend.takesAdapters === true)
    return bases.flatMap(({ id, aliases }) => [id, ...aliases])
  }

  async function findTrained(
    wanted: TrainedModelName,
    modelCaller: ModelCaller,
  ): Promise<PreviewModel | null> {
    const project = wanted.project_id ?? modelCaller.projectId
    const { projects } = modelCaller.caller
    const page = { name: wanted.name, after: null, order: 'desc', count: 2 } as const
    const [found = null, other] = await trained.listModels({
      ...page,
      project_id: project,
      projects,
      base_models: null,
    })
    if (other === undefined) return found
    const message = `Several projects have a model \`${wanted.name}\`: name one as in weave:///<entity>/<project>/${wanted.name}.`
    throw new ApiError('invalid_value', { param: 'model', message })
  }

  async function findServed(name: string, modelCaller: ModelCaller): Promise<Found | null> {
    const wanted = parseTrainedModelName(name)
    const model = wanted && (await findTrained(wanted, modelCaller))
    if (wanted === null || model === null) return null
    const base = findBase(model)
    if (base === null) throw baseNotServed(model)
    const checkpoint = await checkpoints.findCheckpoint(model.id, wanted.step ?? 'latest')
    const step = checkpoint?.step ?? BASE_STEP
    if (wanted.step !== null && wanted.step !== step) return null
    const artifact = checkpoint?.artifact ?? null
    const adapter = artifact && {
      sha256: artifact.sha256,
      bytes: artifact.bytes,
      open: () => checkpoints.openArtifact(artifact),
    }
    return { model, served: toServed(base, model, { step, adapter }) }
  }

  async function listOne(model: PreviewModel): Promise<ModelListEntry[]> {
    const listing = { model_id: model.id, after: null, order: 'desc' } as const
    const rows = await checkpoints.listCheckpoints({ ...listing, count: STEPS_LISTED_MAX })
    const steps = rows.length === 0 ? [BASE_STEP] : rows.map(({ step }) => step)
    const pinned = steps.map((step) => toEntry(model, renderTrainedModelName(model.name, step)))
    return [{ ...toEntry(model, model.name), root: pinned[0]?.id ?? model.name }, ...pinned]
  }

  return {
    findServed,
    /** Returns those that the caller may use, newest first: each by its name and its newest steps. */
    async list(modelCaller: ModelCaller): Promise<ModelListEntry[]> {
      const { projectId: project_id, caller } = modelCaller
      const page = { name: null, after: null, order: 'desc', count: MODELS_LISTED_MAX } as const
      const models = await trained.listModels({
        ...page,
        project_id,
        projects: caller.projects,
        base_models: listBases(),
      })
      return (await Promise.all(models.map(listOne))).flat()
    },
  }
}

/**
 * Spec: §4.3 model, §4.7.
 * Choice: names in the models file take precedence, then those by which the project of the request, or of the name, serves
 * models; a trained model without a checkpoint responds as its base, step 0; responses have the name with the step.
 */
export function createModelChoice(options: ModelChoiceOptions): ModelChoice {
  const { registry, servedAliases } = options
  const models = createTrainedModels(options)

  function choose(
    name: string | null | undefined,
    modelCaller: ModelCaller,
  ): ServedModel | Promise<ServedModel> {
    const { caller } = modelCaller
    if (!name || registry.findModel(name) !== null) {
      return requireAllowed(registry.getModel(name), caller)
    }
    return findNamed(name, modelCaller).then((found) =>
      requireAllowed(found ?? registry.getModel(name), caller, name),
    )
  }

  /** Finds the name by which a project serves models; a name with a step is that of a checkpoint. */
  async function findAlias(name: string, modelCaller: ModelCaller): Promise<ServedAlias | null> {
    const { caller, projectId, isPlain = false } = modelCaller
    const wanted = isPlain ? null : parseTrainedModelName(name)
    const project_id = wanted?.project_id ?? projectId
    if (wanted === null || wanted.step !== null || project_id === null) return null
    if (!canUseProject(caller, project_id)) return null
    return servedAliases.findAlias({ project_id, name: wanted.name })
  }

  async function findNamed(name: string, modelCaller: ModelCaller): Promise<ServedModel | null> {
    const alias = await findAlias(name, modelCaller)
    if (alias === null) return (await models.findServed(name, modelCaller))?.served ?? null
    const chosenBy = chooseArm(alias, modelCaller.body)
    const { model } = chosenBy
    const asker = { ...modelCaller, projectId: alias.project_id }
    const own = registry.findModel(model) ?? (await models.findServed(model, asker))?.served ?? null
    // The response names what responded, as it does for trained models.
    return { ...(own ?? registry.getModel(model)), answersAs: own?.answersAs ?? model, chosenBy }
  }

  return {
    choose,
    async describe(name, modelCaller) {
      const isOwn = registry.findModel(name) !== null
      const alias = isOwn ? null : await findAlias(name, modelCaller)
      if (alias !== null) return toAliasEntry(alias)
      const found = isOwn ? null : await models.findServed(name, modelCaller)
      if (found === null) return registry.getEntry(name)
      return { ...toEntry(found.model, name), root: found.served.id }
    },
    async listStored(modelCaller) {
      const { projectId } = modelCaller
      const aliases = projectId === null ? [] : await servedAliases.listAliases(projectId)
      return [...aliases.map(toAliasEntry), ...(await models.list(modelCaller))]
    },
  }
}

/**
 * Returns the model if the key may use it.
 *
 * @param name - a name of the model besides its id and aliases
 * @throws ApiError model_forbidden
 */
export function requireAllowed<Model extends Pick<ServedModel, 'id' | 'aliases'>>(
  model: Model,
  caller: Principal,
  name: string = model.id,
): Model {
  if (canUseModel(caller, [model.id, ...model.aliases, name])) return model
  const allowed = caller.models?.map((pattern) => `\`${pattern}\``).join(', ')
  const message = `The key may not use the model \`${name}\`; it may use ${allowed}.`
  throw new ApiError('model_forbidden', { param: 'model', message })
}

function baseNotServed({ name, base_model }: PreviewModel): ApiError {
  const message = `The model \`${name}\` cannot be used here: its base model \`${base_model}\` is not served with adapters.`
  return new ApiError('model_not_found', { param: 'model', message })
}

function toServed(
  base: ServedModel,
  model: PreviewModel,
  { step, adapter }: { readonly step: number; readonly adapter: Adapter | null },
): ServedModel {
  const id = renderTrainedModelName(model.name, step)
  const own = { id, aliases: [], ownedBy: model.entity, fallbacks: [], answersAs: id, adapter }
  return { ...base, ...own, created: toSeconds(model.created_at_us) }
}

/** Spec: §2.11. Choice: `parent` is the base model. */
function toEntry(model: PreviewModel, id: string): ModelListEntry {
  const created = toSeconds(model.created_at_us)
  const { entity: owned_by, base_model: parent } = model
  return { id, object: 'model', created, owned_by, root: id, parent }
}

/** Spec: §2.11. Choice: `root` is the model that is served. */
function toAliasEntry({ name, project_id, target, updated_at_us }: ServedAlias): ModelListEntry {
  const owned_by = project_id.split('/')[0] ?? project_id
  return { id: name, object: 'model', created: toSeconds(updated_at_us), owned_by, root: target }
}

function toSeconds(us: number): number {
  return Math.floor(us / 1_000_000)
}
