/**
 * Reads a llama model from a GGUF file: its shape, its weights and the data of its tokenizer. It must refuse what the
 * forward pass would compute wrongly.
 */

import { IDS_MAX } from '../sampling/ranking.ts'
import { type Gguf, type GgufValue, ModelFileError, readGguf } from './gguf.ts'
import { tensorValues } from './tensor-values.ts'

/** Sizes of the network. All are checked against the tensors. */
export interface ModelShape {
  readonly vocab: number
  readonly width: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  /** Numbers per head; a multiple of four. */
  readonly headSize: number
  readonly hidden: number
  /** Tokens, prompt and answer together. */
  readonly context: number
  readonly ropeBase: number
  readonly epsilon: number
}

/** Matrices lie row by row: one row per output. */
export interface LayerWeights {
  readonly attentionNorm: Float32Array
  readonly query: Float32Array
  readonly key: Float32Array
  readonly value: Float32Array
  readonly attentionOut: Float32Array
  readonly hiddenNorm: Float32Array
  readonly gate: Float32Array
  readonly up: Float32Array
  readonly down: Float32Array
}

/** A whole model, in memory as floats. */
export interface Model {
  readonly shape: ModelShape
  readonly embedding: Float32Array
  readonly layers: readonly LayerWeights[]
  readonly outputNorm: Float32Array
  /** The embedding itself when the file has no `output.weight`. */
  readonly output: Float32Array
  readonly vocabulary: Vocabulary
  /** Jinja source of the chat template. */
  readonly chatTemplate: string
}

/** The tokens of the file. */
export interface Vocabulary {
  /** By id; ordinary tokens in GPT-2's stand-in characters, control tokens as they are. */
  readonly tokens: readonly string[]
  readonly merges: readonly string[]
  readonly controlIds: readonly number[]
  /** Ids that end an answer by themselves. */
  readonly endIds: readonly number[]
  /** The token that may begin a sequence; null when the file names none. */
  readonly beginId: number | null
}

/** Limit: keeps the table of angles and one KV cache small. */
const CONTEXT_TOKENS_MAX = 32_768
const LAYERS_MAX = 256
const TYPE_CONTROL = 3
/** For files without a template of their own. */
const CHATML =
  "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"

/**
 * Reads a model.
 *
 * @param bytes - the whole GGUF file
 * @throws ModelFileError when the file is damaged or is not a llama with a GPT-2 tokenizer
 */
export function loadModel(bytes: Uint8Array): Model {
  const gguf = readGguf(bytes)
  const shape = readShape(gguf.metadata)
  const taken = new Set<string>()
  const take = (name: string, ...axes: readonly number[]): Float32Array => {
    const tensor = gguf.tensors.get(name)
    if (tensor === undefined) throw new ModelFileError(`tensor ${name} is missing`)
    if (tensor.shape.length !== axes.length || axes.some((n, i) => n !== tensor.shape[i])) {
      throw new ModelFileError(`tensor ${name} is ${tensor.shape.join('x')}, not ${axes.join('x')}`)
    }
    taken.add(name)
    return tensorValues(bytes, tensor)
  }
  const embedding = take('token_embd.weight', shape.width, shape.vocab)
  const layers = Array.from({ length: shape.layers }, (_, i) => readLayer(shape, `blk.${i}`, take))
  const outputNorm = take('output_norm.weight', shape.width)
  const output = gguf.tensors.has('output.weight')
    ? take('output.weight', shape.width, shape.vocab)
    : embedding
  // Why: a bias or a rope factor that is left out would give wrong text without any error.
  for (const name of gguf.tensors.keys()) {
    if (!taken.has(name)) throw new ModelFileError(`tensor ${name} is not supported`)
  }
  const vocabulary = readVocabulary(gguf, shape.vocab)
  const chatTemplate = gguf.metadata.get('tokenizer.chat_template') ?? CHATML
  if (typeof chatTemplate !== 'string') throw new ModelFileError('the chat template is not text')
  return { shape, embedding, layers, outputNorm, output, vocabulary, chatTemplate }
}

function readLayer(
  shape: ModelShape,
  prefix: string,
  take: (name: string, ...axes: readonly number[]) => Float32Array,
): LayerWeights {
  const { width, hidden } = shape
  const queries = shape.heads * shape.headSize
  const keys = shape.kvHeads * shape.headSize
  return {
    attentionNorm: take(`${prefix}.attn_norm.weight`, width),
    query: take(`${prefix}.attn_q.weight`, width, queries),
    key: take(`${prefix}.attn_k.weight`, width, keys),
    value: take(`${prefix}.attn_v.weight`, width, keys),
    attentionOut: take(`${prefix}.attn_output.weight`, queries, width),
    hiddenNorm: take(`${prefix}.ffn_norm.weight`, width),
    gate: take(`${prefix}.ffn_gate.weight`, width, hidden),
    up: take(`${prefix}.ffn_up.weight`, width, hidden),
    down: take(`${prefix}.ffn_down.weight`, hidden, width),
  }
}

function readShape(metadata: ReadonlyMap<string, GgufValue>): ModelShape {
  if (metadata.get('general.architecture') !== 'llama') {
    throw new ModelFileError('general.architecture is not llama')
  }
  const scaling = metadata.get('llama.rope.scaling.type') ?? 'none'
  if (scaling !== 'none') throw new ModelFileError('llama.rope.scaling is not supported')
  const width = whole(metadata, 'llama.embedding_length', 1_048_576)
  const heads = whole(metadata, 'llama.attention.head_count', width)
  const kvHeads = metadata.has('llama.attention.head_count_kv')
    ? whole(metadata, 'llama.attention.head_count_kv', heads)
    : heads
  const headSize = width / heads
  const rotated = metadata.get('llama.rope.dimension_count') ?? headSize
  // Attention goes by four numbers at a time.
  if (!Number.isInteger(headSize / 4) || heads % kvHeads !== 0 || rotated !== headSize) {
    throw new ModelFileError('the sizes of the attention heads do not fit together')
  }
  return {
    vocab: tokensOf(metadata).length,
    width,
    layers: whole(metadata, 'llama.block_count', LAYERS_MAX),
    heads,
    kvHeads,
    headSize,
    hidden: whole(metadata, 'llama.feed_forward_length', 1_048_576),
    context: Math.min(whole(metadata, 'llama.context_length', 2 ** 31), CONTEXT_TOKENS_MAX),
    ropeBase: positive(metadata, 'llama.rope.freq_base', 10_000),
    epsilon: positive(metadata, 'llama.attention.layer_norm_rms_epsilon', 1e-5),
  }
}

function readVocabulary({ metadata }: Gguf, size: number): Vocabulary {
  // Why: another pre-tokenizer would split text differently and quietly make the model worse.
  const pre = metadata.get('tokenizer.ggml.pre') ?? 'gpt-2'
  if (metadata.get('tokenizer.ggml.model') !== 'gpt2' || pre !== 'gpt-2') {
    throw new ModelFileError('the tokenizer is not gpt2 with the pre-tokenizer gpt-2')
  }
  const tokens = tokensOf(metadata)
  const types = metadata.get('tokenizer.ggml.token_type') ?? []
  const controlIds: number[] = []
  if (Array.isArray(types)) {
    for (let id = 0; id < size; id++) if (types[id] === TYPE_CONTROL) controlIds.push(id)
  }
  const end = whole(metadata, 'tokenizer.ggml.eos_token_id', size - 1, 0)
  const ends = new Set([end])
  for (const name of ['<|endoftext|>', '<|im_end|>']) {
    const id = tokens.indexOf(name)
    if (controlIds.includes(id)) ends.add(id)
  }
  const beginId = metadata.has('tokenizer.ggml.bos_token_id')
    ? whole(metadata, 'tokenizer.ggml.bos_token_id', size - 1, 0)
    : null
  const merges = texts(metadata, 'tokenizer.ggml.merges')
  return { tokens, merges, controlIds, endIds: [...ends], beginId }
}

function tokensOf(metadata: ReadonlyMap<string, GgufValue>): readonly string[] {
  const tokens = texts(metadata, 'tokenizer.ggml.tokens')
  if (tokens.length === 0) throw new ModelFileError('the vocabulary is empty')
  if (tokens.length > IDS_MAX) throw new ModelFileError('the vocabulary is too large')
  return tokens
}

function texts(metadata: ReadonlyMap<string, GgufValue>, key: string): readonly string[] {
  const value = metadata.get(key)
  if (!Array.isArray(value) || !value.every((item): item is string => typeof item === 'string')) {
    throw new ModelFileError(`${key} is not a list of texts`)
  }
  return value
}

function whole(
  metadata: ReadonlyMap<string, GgufValue>,
  key: string,
  max: number,
  min = 1,
): number {
  const value = metadata.get(key)
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw new ModelFileError(`${key} is not a whole number from ${min} to ${max}`)
  }
  return number
}

function positive(metadata: ReadonlyMap<string, GgufValue>, key: string, fallback: number): number {
  const value = metadata.get(key) ?? fallback
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    throw new ModelFileError(`${key} is not a number above 0`)
  }
  return value
}
