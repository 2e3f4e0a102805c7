/** GGUF files: what is read back, and that damaged or hostile files end in a clear error. */
import { describe, expect, it } from 'vitest'
import {
  ModelFileError,
  readGguf,
  STRING_BYTES_MAX,
} from '../../../src/inference/tiny/model/gguf.ts'
import { loadModel } from '../../../src/inference/tiny/model/model.ts'
import { decodeHalf, tensorValues } from '../../../src/inference/tiny/model/tensor-values.ts'
import {
  floats,
  join,
  modelFile,
  modelMetadata,
  modelTensors,
  SIZES,
  text,
  u32,
  u64,
  writeGguf,
} from '../gguf-fixture.ts'

const MAGIC = new TextEncoder().encode('GGUF')

describe('readGguf', () => {
  it('reads back metadata and tensors', () => {
    const file = writeGguf(
      {
        'a.text': { type: 'string', value: 'Grüße 🙂' },
        'a.number': { type: 'u32', value: 4_000_000_000 },
        'a.big': { type: 'u64', value: 7 },
        'a.float': { type: 'f32', value: 0.5 },
        'a.flag': { type: 'bool', value: true },
        'a.list': { type: 'strings', value: ['x', ''] },
        'a.numbers': { type: 'i32s', value: [1, 2] },
      },
      [
        { name: 'one', shape: [3], type: 0, data: floats([1, -2, 0.25]) },
        {
          name: 'two',
          shape: [2, 2],
          type: 1,
          data: Uint8Array.of(0, 0x3c, 0, 0xc0, 1, 0, 0, 0x7c),
        },
      ],
    )
    const { metadata, tensors } = readGguf(file)
    expect(Object.fromEntries(metadata)).toEqual({
      'a.text': 'Grüße 🙂',
      'a.number': 4_000_000_000,
      'a.big': 7n,
      'a.float': 0.5,
      'a.flag': true,
      'a.list': ['x', ''],
      'a.numbers': [1, 2],
    })
    expect([...tensorValues(file, tensors.get('one')!)]).toEqual([1, -2, 0.25])
    expect(tensors.get('two')?.shape).toEqual([2, 2])
    expect([...tensorValues(file, tensors.get('two')!)]).toEqual([1, -2, 2 ** -24, Infinity])
  })

  it('reads a file that lies at an odd place of a buffer', () => {
    const file = modelFile()
    const moved = new Uint8Array(file.length + 3).subarray(3)
    moved.set(file)
    expect(loadModel(moved).embedding).toEqual(loadModel(file).embedding)
  })

  it('reads Q8_0: a scale and 32 signed bytes', () => {
    const block = new Uint8Array(34)
    block.set([0, 0x38])
    block.set([2, 0xfe], 2)
    const file = writeGguf({}, [{ name: 'q', shape: [32], type: 8, data: block }])
    const values = tensorValues(file, readGguf(file).tensors.get('q')!)
    expect([...values.subarray(0, 3)]).toEqual([1, -1, 0])
  })

  it('refuses what is no GGUF, and versions that it does not know', () => {
    expect(() => readGguf(new Uint8Array())).toThrow(ModelFileError)
    expect(() => readGguf(new TextEncoder().encode('{"model": "no"}'))).toThrow('not a GGUF file')
    expect(() => readGguf(join([MAGIC, u32(1), u64(0), u64(0)]))).toThrow('version 1')
  })

  it('refuses hostile counts before it takes memory for them', () => {
    const head = (tensors: number | bigint, keys: number | bigint) =>
      join([MAGIC, u32(3), u64(tensors), u64(keys)])
    const list = (type: number, count: bigint) =>
      join([head(0, 1), text('k'), u32(9), u32(type), u64(count)])
    const files = [
      head(2n ** 63n, 0),
      head(0, 2n ** 64n - 1n),
      join([head(0, 1), u64(2n ** 40n)]),
      join([head(0, 1), text('k'), u32(8), u64(STRING_BYTES_MAX + 1)]),
      list(4, 2n ** 50n),
      list(8, 2n ** 32n),
      list(9, 1n),
      list(99, 1n),
      join([head(1, 0), text('t'), u32(200)]),
      join([head(1, 0), text('t'), u32(1), u64(2n ** 60n), u32(0), u64(0)]),
    ]
    for (const file of files) expect(() => readGguf(file)).toThrow(ModelFileError)
  })

  it('refuses a tensor that is larger than the file', () => {
    const file = writeGguf({}, [
      { name: 't', shape: [2 ** 26, 2 ** 26], type: 0, data: floats([1]) },
    ])
    const tensor = readGguf(file).tensors.get('t')!
    expect(() => tensorValues(file, tensor)).toThrow('the file ends inside tensor t')
  })

  it('refuses tensor types that it cannot decode', () => {
    const file = writeGguf({}, [{ name: 't', shape: [32], type: 2, data: new Uint8Array(64) }])
    expect(() => tensorValues(file, readGguf(file).tensors.get('t')!)).toThrow('type 2')
  })

  it('refuses names that occur twice', () => {
    const one = { name: 't', shape: [1], type: 0, data: floats([1]) }
    expect(() => readGguf(writeGguf({}, [one, one]))).toThrow('occurs twice')
  })
})

describe('loadModel', () => {
  it('takes a whole model', () => {
    const model = loadModel(modelFile())
    expect(model.shape).toMatchObject({ ...SIZES, headSize: 4 })
    expect(model.output).not.toBe(model.embedding)
    expect(model.vocabulary.endIds).toEqual([2, 0])
  })

  it('uses the embedding where there is no output matrix', () => {
    const tied = modelTensors().filter(({ name }) => name !== 'output.weight')
    const model = loadModel(writeGguf(modelMetadata(), tied))
    expect(model.output).toBe(model.embedding)
  })

  it('says clearly that a file is cut off, wherever it is cut', () => {
    const file = modelFile()
    for (let end = 0; end < file.length - 32; end += end < 200 ? 1 : 397) {
      expect(() => loadModel(file.subarray(0, end))).toThrow(ModelFileError)
    }
  })

  it('never fails in another way when bytes of the head are damaged', () => {
    const file = modelFile()
    for (let at = 0; at < 700; at++) {
      const damaged = file.slice()
      damaged[at] = (damaged[at] ?? 0) ^ 0xff
      try {
        loadModel(damaged)
      } catch (error) {
        expect(error).toBeInstanceOf(ModelFileError)
      }
    }
  })

  it.each([
    ['general.architecture', { type: 'string', value: 'mamba' }],
    ['tokenizer.ggml.pre', { type: 'string', value: 'qwen2' }],
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['llama.rope.scaling.type', { type: 'string', value: 'yarn' }],
    ['llama.attention.head_count', { type: 'u32', value: 3 }],
    ['llama.attention.head_count', { type: 'u32', value: 0 }],
    ['llama.attention.head_count_kv', { type: 'u32', value: 3 }],
    ['llama.rope.dimension_count', { type: 'u32', value: 2 }],
    ['llama.embedding_length', { type: 'u32', value: 4_000_000_000 }],
    ['llama.block_count', { type: 'u32', value: 3 }],
    ['llama.block_count', { type: 'u32', value: 1 }],
    ['llama.feed_forward_length', { type: 'u32', value: 23 }],
    ['tokenizer.ggml.tokens', { type: 'strings', value: [] }],
    ['tokenizer.ggml.eos_token_id', { type: 'u32', value: 259 }],
    ['tokenizer.chat_template', { type: 'u32', value: 1 }],
    ['llama.rope.freq_base', { type: 'f32', value: 0 }],
  ] as const)('refuses a model with another %s: %o', (key, value) => {
    expect(() => loadModel(modelFile({ [key]: value }))).toThrow(ModelFileError)
  })

  it('refuses a tensor that it would have to leave out', () => {
    const bias = {
      name: 'blk.0.attn_q.bias',
      shape: [16],
      type: 0,
      data: floats(Array(16).fill(1)),
    }
    const file = writeGguf(modelMetadata(), [...modelTensors(), bias])
    expect(() => loadModel(file)).toThrow('blk.0.attn_q.bias is not supported')
  })
})

describe('decodeHalf', () => {
  it.each([
    [0x0000, 0],
    [0x3c00, 1],
    [0xc000, -2],
    [0x3555, 0.333251953125],
    [0x7bff, 65_504],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
  ])('decodes %i', (bits, value) => {
    expect(decodeHalf(bits)).toBe(value)
  })

  it('keeps the sign of zero and knows NaN', () => {
    expect(decodeHalf(0x8000)).toBe(-0)
    expect(decodeHalf(0x7e00)).toBeNaN()
  })
})
