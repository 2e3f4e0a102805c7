/**
 * The file of a checkpoint: a tar of a standard adapter (`adapter_model.safetensors` with its
 * `adapter_config.json`) and, where training resumes from it, `optimizer.safetensors`.
 * It must refuse what it would compute wrongly.
 */
import type { ModelShape } from '../model/model.ts'
import {
  type Adapter,
  AdapterFileError,
  type AdapterLayer,
  type LowRank,
  PROJECTIONS,
  type Projection,
  projectionSize,
  RANK_MAX,
} from './adapter.ts'
import {
  readJsonObject,
  readSafetensors,
  type Safetensors,
  type Tensor,
  writeSafetensors,
} from './safetensors.ts'
import { readTar, writeTar } from './tar.ts'

/** What a checkpoint's file holds. */
interface Artifact {
  readonly adapter: Adapter
  /** The optimizer's numbers, or null when the file has none. */
  readonly optimizer: Safetensors | null
}

const WEIGHTS_FILE = 'adapter_model.safetensors'
const CONFIG_FILE = 'adapter_config.json'
const OPTIMIZER_FILE = 'optimizer.safetensors'
/** Names of the projections in the transformers library, below a layer. */
const MODULES: Readonly<Record<Projection, string>> = {
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  attentionOut: 'self_attn.o_proj',
  gate: 'mlp.gate_proj',
  up: 'mlp.up_proj',
  down: 'mlp.down_proj',
}
/** Settings of an adapter that would need another formula, with the only values that need none. */
const PLAIN_SETTINGS: Readonly<Record<string, readonly unknown[]>> = {
  peft_type: ['LORA'],
  bias: ['none', undefined],
  use_dora: [false, null, undefined],
  use_qalora: [false, null, undefined],
  use_bdlora: [false, null, undefined],
  fan_in_fan_out: [false, null, undefined],
}

/** Settings that would need another formula whatever they are. Layers that are left out lack their tensors. */
const FOREIGN_SETTINGS = [
  'rank_pattern',
  'alpha_pattern',
  'modules_to_save',
  'layer_replication',
  'alora_invocation_tokens',
  'arrow_config',
  'kasa_config',
]

/**
 * Reads an artifact for a model of this shape.
 *
 * @throws AdapterFileError when it is damaged, is of another shape or needs another formula
 */
export function readArtifact(bytes: Uint8Array, shape: ModelShape): Artifact {
  const files = readTar(bytes)
  const config = readConfig(take(files, CONFIG_FILE))
  const { tensors } = readSafetensors(take(files, WEIGHTS_FILE))
  const unread = new Set(tensors.keys())
  const layers = Array.from({ length: shape.layers }, (_, index) => {
    const layer: Partial<Record<Projection, LowRank>> = {}
    for (const projection of PROJECTIONS) {
      const [nameA, nameB] = tensorNames(index, projection)
      const a = tensors.get(nameA)
      const b = tensors.get(nameB)
      if (a === undefined && b === undefined) continue
      const { outputs, inputs } = projectionSize(shape, projection)
      layer[projection] = {
        a: sized(a, nameA, config.rank, inputs),
        b: toModelRows(shape, projection, sized(b, nameB, outputs, config.rank), config.rank),
      }
      unread.delete(nameA)
      unread.delete(nameB)
    }
    return layer satisfies AdapterLayer
  })
  const [other] = unread
  if (other !== undefined) throw new AdapterFileError(`tensor ${other.slice(0, 200)} is not used`)
  const optimizer = files.get(OPTIMIZER_FILE)
  return {
    adapter: { ...config, layers },
    optimizer: optimizer === undefined ? null : readSafetensors(optimizer),
  }
}

/**
 * Writes an artifact. The same one gives the same bytes.
 *
 * @param baseModel - name of the model that it belongs to
 */
export function writeArtifact(
  { adapter, optimizer }: Artifact,
  shape: ModelShape,
  baseModel: string,
): Uint8Array {
  const tensors = new Map<string, Tensor>()
  const modules = new Set<string>()
  for (const [index, layer] of adapter.layers.entries()) {
    for (const projection of PROJECTIONS) {
      const pair = layer[projection]
      if (pair === undefined) continue
      const { outputs, inputs } = projectionSize(shape, projection)
      const [nameA, nameB] = tensorNames(index, projection)
      const values = toFileRows(shape, projection, pair.b, adapter.rank)
      tensors.set(nameA, { shape: [adapter.rank, inputs], values: pair.a })
      tensors.set(nameB, { shape: [outputs, adapter.rank], values })
      modules.add(MODULES[projection].replace(/^.*\./, ''))
    }
  }
  const files = new Map([
    [WEIGHTS_FILE, writeSafetensors({ tensors, metadata: { format: 'pt' } })],
    [CONFIG_FILE, writeConfig(adapter, baseModel, [...modules])],
  ])
  if (optimizer !== null) files.set(OPTIMIZER_FILE, writeSafetensors(optimizer))
  return writeTar(files)
}

/** Names of a pair's tensors in a standard adapter file: a, then b. */
export function tensorNames(layer: number, projection: Projection): readonly [string, string] {
  const module = `base_model.model.model.layers.${layer}.${MODULES[projection]}`
  return [`${module}.lora_A.weight`, `${module}.lora_B.weight`]
}

function writeConfig(adapter: Adapter, baseModel: string, modules: readonly string[]): Uint8Array {
  const config = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: adapter.rank,
    lora_alpha: adapter.alpha,
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    use_rslora: false,
    target_modules: modules,
  }
  return new TextEncoder().encode(`${JSON.stringify(config, null, 2)}\n`)
}

function readConfig(bytes: Uint8Array): Pick<Adapter, 'rank' | 'alpha'> {
  const config = readJsonObject(bytes, CONFIG_FILE)
  for (const [key, allowed] of Object.entries(PLAIN_SETTINGS)) {
    if (!allowed.includes(config[key])) {
      throw new AdapterFileError(`${CONFIG_FILE}: this value of ${key} is not supported`)
    }
  }
  for (const key of FOREIGN_SETTINGS) {
    const value = config[key] ?? []
    if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) {
      throw new AdapterFileError(`${CONFIG_FILE}: ${key} is not supported`)
    }
  }
  const { r: rank, lora_alpha: alpha } = config
  if (typeof rank !== 'number' || !Number.isInteger(rank) || rank < 1 || rank > RANK_MAX) {
    throw new AdapterFileError(`${CONFIG_FILE}: r is not a whole number from 1 to ${RANK_MAX}`)
  }
  if (typeof alpha !== 'number' || !(alpha > 0)) {
    throw new AdapterFileError(`${CONFIG_FILE}: lora_alpha is not a number above 0`)
  }
  // Rank-stabilised adapters are scaled by alpha over the root of the rank.
  return { rank, alpha: config.use_rslora === true ? alpha * Math.sqrt(rank) : alpha }
}

function take(files: ReadonlyMap<string, Uint8Array>, name: string): Uint8Array {
  const file = files.get(name)
  if (file === undefined) throw new AdapterFileError(`the archive has no ${name}`)
  return file
}

function sized(tensor: Tensor | undefined, name: string, rows: number, columns: number) {
  if (tensor === undefined) throw new AdapterFileError(`tensor ${name} is missing`)
  if (tensor.shape.length === 2 && tensor.shape[0] === rows && tensor.shape[1] === columns) {
    return tensor.values
  }
  throw new AdapterFileError(`tensor ${name} is not ${rows}x${columns}`)
}

/**
 * Rows of queries and keys in the model's order: it turns neighbouring pairs by a position's angle. The
 * standard file has the order of the transformers library, which turns the halves of a head.
 */
function toModelRows(
  shape: ModelShape,
  projection: Projection,
  rows: Float64Array,
  columns: number,
): Float64Array {
  return moveRows(shape, projection, rows, columns, (file, model) => [file, model])
}

/** The inverse of `toModelRows`. */
function toFileRows(
  shape: ModelShape,
  projection: Projection,
  rows: Float64Array,
  columns: number,
): Float64Array {
  return moveRows(shape, projection, rows, columns, (file, model) => [model, file])
}

function moveRows(
  { headSize }: ModelShape,
  projection: Projection,
  rows: Float64Array,
  columns: number,
  direct: (file: number, model: number) => readonly [number, number],
): Float64Array {
  if (projection !== 'query' && projection !== 'key') return rows
  const moved = new Float64Array(rows.length)
  const half = headSize / 2
  for (let row = 0; row * columns < rows.length; row++) {
    const head = row - (row % headSize)
    const within = row % headSize
    const model = head + 2 * (within % half) + Math.floor(within / half)
    const [from, to] = direct(row, model)
    moved.set(rows.subarray(from * columns, (from + 1) * columns), to * columns)
  }
  return moved
}
