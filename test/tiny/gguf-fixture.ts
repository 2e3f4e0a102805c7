/**
 * Writes GGUF files and small random models for tests. Knows the format by itself, so that the
 * reader is tested against something else than its own idea of it.
 */
import { CHARACTER_OF_BYTE } from '../../src/inference/tiny/text/byte-characters.ts'

type FixtureValue =
  | { readonly type: 'u32' | 'f32' | 'u64'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'i32s'; readonly value: readonly number[] }

interface FixtureTensor {
  readonly name: string
  /** Innermost axis first. */
  readonly shape: readonly number[]
  readonly type: number
  readonly data: Uint8Array
}

export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

export function u64(value: number | bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true)
  return bytes
}

export function text(value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value)
  return join([u64(bytes.length), bytes])
}

export function floats(values: readonly number[] | Float32Array): Uint8Array {
  const bytes = new Uint8Array(values.length * 4)
  const view = new DataView(bytes.buffer)
  values.forEach((value, i) => {
    view.setFloat32(i * 4, value, true)
  })
  return bytes
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts))
}

function encodeValue(value: FixtureValue): Uint8Array {
  switch (value.type) {
    case 'u32':
      return join([u32(4), u32(value.value)])
    case 'u64':
      return join([u32(10), u64(value.value)])
    case 'f32':
      return join([u32(6), floats([value.value])])
    case 'bool':
      return join([u32(7), Uint8Array.of(value.value ? 1 : 0)])
    case 'string':
      return join([u32(8), text(value.value)])
    case 'strings':
      return join([u32(9), u32(8), u64(value.value.length), ...value.value.map(text)])
    case 'i32s':
      return join([u32(9), u32(5), u64(value.value.length), ...value.value.map(u32)])
  }
}

/** A GGUF v3 file. */
export function writeGguf(
  metadata: Readonly<Record<string, FixtureValue>>,
  tensors: readonly FixtureTensor[],
): Uint8Array {
  const keys = Object.entries(metadata)
  const head = [new TextEncoder().encode('GGUF'), u32(3), u64(tensors.length), u64(keys.length)]
  for (const [key, value] of keys) head.push(text(key), encodeValue(value))
  const body: Uint8Array[] = []
  let offset = 0
  for (const { name, shape, type, data } of tensors) {
    head.push(text(name), u32(shape.length), ...shape.map((n) => u64(n)), u32(type), u64(offset))
    const padding = new Uint8Array((32 - (data.length % 32)) % 32)
    body.push(data, padding)
    offset += data.length + padding.length
  }
  const start = join(head)
  return join([start, new Uint8Array((32 - (start.length % 32)) % 32), ...body])
}

export const SIZES = {
  vocab: 259,
  width: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  hidden: 22,
  context: 96,
} as const

const CHATML =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

/** Metadata of a model whose tokens are three control tokens and the 256 bytes. */
export function modelMetadata(): Record<string, FixtureValue> {
  const whole = (value: number): FixtureValue => ({ type: 'u32', value })
  return {
    'general.architecture': { type: 'string', value: 'llama' },
    'llama.context_length': whole(SIZES.context),
    'llama.embedding_length': whole(SIZES.width),
    'llama.block_count': whole(SIZES.layers),
    'llama.feed_forward_length': whole(SIZES.hidden),
    'llama.attention.head_count': whole(SIZES.heads),
    'llama.attention.head_count_kv': whole(SIZES.kvHeads),
    'llama.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-5 },
    'llama.rope.freq_base': { type: 'f32', value: 10_000 },
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.pre': { type: 'string', value: 'gpt-2' },
    'tokenizer.ggml.tokens': {
      type: 'strings',
      value: ['<|endoftext|>', '<|im_start|>', '<|im_end|>', ...CHARACTER_OF_BYTE],
    },
    'tokenizer.ggml.token_type': {
      type: 'i32s',
      value: Array.from({ length: SIZES.vocab }, (_, id) => (id < 3 ? 3 : 1)),
    },
    'tokenizer.ggml.merges': { type: 'strings', value: [] },
    'tokenizer.ggml.eos_token_id': whole(2),
    'tokenizer.chat_template': { type: 'string', value: CHATML },
  }
}

/** Random weights, the same ones every time. The output matrix is its own, so nothing is tied. */
export function modelTensors(): FixtureTensor[] {
  let state = 12_345
  const random = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 0x7fffffff - 0.5
  }
  const tensor = (name: string, shape: readonly number[], center: number): FixtureTensor => {
    const count = shape.reduce((product, n) => product * n, 1)
    const values = Array.from({ length: count }, () => center + random())
    return { name, shape, type: 0, data: floats(values) }
  }
  const { vocab, width, hidden, heads, kvHeads } = SIZES
  const keys = (width / heads) * kvHeads
  const tensors = [
    tensor('token_embd.weight', [width, vocab], 0),
    tensor('output_norm.weight', [width], 1),
    tensor('output.weight', [width, vocab], 0),
  ]
  for (let i = 0; i < SIZES.layers; i++) {
    tensors.push(
      tensor(`blk.${i}.attn_norm.weight`, [width], 1),
      tensor(`blk.${i}.attn_q.weight`, [width, width], 0),
      tensor(`blk.${i}.attn_k.weight`, [width, keys], 0),
      tensor(`blk.${i}.attn_v.weight`, [width, keys], 0),
      tensor(`blk.${i}.attn_output.weight`, [width, width], 0),
      tensor(`blk.${i}.ffn_norm.weight`, [width], 1),
      tensor(`blk.${i}.ffn_gate.weight`, [width, hidden], 0),
      tensor(`blk.${i}.ffn_up.weight`, [width, hidden], 0),
      tensor(`blk.${i}.ffn_down.weight`, [hidden, width], 0),
    )
  }
  return tensors
}

/** A whole random model as a file. */
export function modelFile(changes: Readonly<Record<string, FixtureValue>> = {}): Uint8Array {
  return writeGguf({ ...modelMetadata(), ...changes }, modelTensors())
}
