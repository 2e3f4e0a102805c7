/** The checkpoint's file: what is written is read again, is a standard adapter, and nothing damaged is taken. */
import { describe, expect, it } from 'vitest'
import { type Adapter, mergeAdapter } from '../../../src/inference/tiny/lora/adapter.ts'
import { readArtifact, writeArtifact } from '../../../src/inference/tiny/lora/artifact.ts'
import { readSafetensors, writeSafetensors } from '../../../src/inference/tiny/lora/safetensors.ts'
import { readTar, writeTar } from '../../../src/inference/tiny/lora/tar.ts'
import { listMatrices, randomAdapter, SMALL_MODEL } from './training-fixtures.ts'

const { shape } = SMALL_MODEL
const NAME_A = 'base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight'
const NAME_B = 'base_model.model.model.layers.1.self_attn.q_proj.lora_B.weight'
const text = (value: string) => new TextEncoder().encode(value)

/** Numbers as the file holds them. */
function rounded(adapter: Adapter): [string, number[]][] {
  return listMatrices(adapter).map(([name, matrix]) => [name, [...Float32Array.from(matrix)]])
}

function artifactOf(adapter: Adapter): Uint8Array {
  return writeArtifact({ adapter, optimizer: null }, shape, 'tiny')
}

/** The artifact with some of its files replaced. */
function patched(changes: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const files = readTar(artifactOf(randomAdapter(SMALL_MODEL, 2, 1)))
  return writeTar(new Map([...files, ...Object.entries(changes)]))
}

const withConfig = (changes: Readonly<Record<string, unknown>>) => {
  const config = { peft_type: 'LORA', r: 2, lora_alpha: 4, ...changes }
  return patched({ 'adapter_config.json': text(JSON.stringify(config)) })
}

describe('an artifact', () => {
  const adapter = randomAdapter(SMALL_MODEL, 3, 7)

  it('an artifact is read as written, and the same adapter yields the same bytes', () => {
    const bytes = artifactOf(adapter)
    expect(artifactOf(adapter)).toEqual(bytes)
    const read = readArtifact(bytes, shape)
    expect(read.optimizer).toBeNull()
    expect(read.adapter).toMatchObject({ rank: 3, alpha: 6 })
    expect(rounded(read.adapter)).toEqual(rounded(adapter))
    expect(artifactOf(read.adapter)).toEqual(bytes)
  })

  it('an artifact contains the state of the optimizer', () => {
    const values = Float64Array.of(1, 2.5, -3)
    const optimizer = { tensors: new Map([['m', { shape: [3], values }]]), metadata: { step: '4' } }
    const bytes = writeArtifact({ adapter, optimizer }, shape, 'tiny')
    expect(readArtifact(bytes, shape).optimizer).toEqual(optimizer)
  })

  it('an artifact is a standard adapter in config, names and axes', () => {
    const files = readTar(artifactOf(adapter))
    expect([...files.keys()]).toEqual(['adapter_model.safetensors', 'adapter_config.json'])
    const config = JSON.parse(new TextDecoder().decode(files.get('adapter_config.json')))
    expect(config).toMatchObject({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: 'tiny',
      r: 3,
      lora_alpha: 6,
      target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
    })
    const { tensors, metadata } = readSafetensors(files.get('adapter_model.safetensors')!)
    expect(metadata).toEqual({ format: 'pt' })
    expect(tensors.size).toBe(2 * 7 * shape.layers)
    expect(tensors.get(NAME_A)?.shape).toEqual([3, shape.width])
    expect(tensors.get(NAME_B)?.shape).toEqual([shape.heads * shape.headSize, 3])
  })

  it('query rows of an artifact are in the order of libraries that rotate halves of a head', () => {
    const files = readTar(artifactOf(adapter))
    const { tensors } = readSafetensors(files.get('adapter_model.safetensors')!)
    const standard = tensors.get(NAME_B)!.values
    const own = Float32Array.from(adapter.layers[1]!.query.b)
    const half = shape.headSize / 2
    // The pair (2j, 2j + 1) of a head that the model turns is (j, j + half) in the file.
    for (let head = 0; head < shape.heads; head++) {
      for (let j = 0; j < half; j++) {
        for (const [side, inModel] of [2 * j, 2 * j + 1].entries()) {
          const fileRow = head * shape.headSize + side * half + j
          const modelRow = head * shape.headSize + inModel
          expect([...standard.slice(fileRow * 3, fileRow * 3 + 3)]).toEqual([
            ...own.slice(modelRow * 3, modelRow * 3 + 3),
          ])
        }
      }
    }
  })

  it('projections absent from an artifact are not changed', () => {
    const layers = adapter.layers.map(({ value }) => ({ value }))
    const read = readArtifact(artifactOf({ ...adapter, layers }), shape)
    expect(Object.keys(read.adapter.layers[0]!)).toEqual(['value'])
    const merged = mergeAdapter(SMALL_MODEL, read.adapter)
    expect(merged.layers[0]!.query).toBe(SMALL_MODEL.layers[0]!.query)
    expect(merged.layers[0]!.value).not.toEqual(SMALL_MODEL.layers[0]!.value)
  })
})

describe('a config', () => {
  it('a config may scale by the root of the rank, and name its layers', () => {
    const plain = readArtifact(withConfig({}), shape).adapter
    const other = readArtifact(withConfig({ use_rslora: true, layers_to_transform: [0] }), shape)
    expect(other.adapter.rank).toBe(plain.rank)
    expect(other.adapter.alpha).toBeCloseTo(plain.alpha * Math.sqrt(plain.rank), 12)
  })
})

describe('merging', () => {
  it('merging adds alpha / rank times b times a and does not change the base model', () => {
    const before = SMALL_MODEL.layers[0]!.down.slice()
    const adapter = randomAdapter(SMALL_MODEL, 2, 3)
    const { a, b } = adapter.layers[0]!.down
    const merged = mergeAdapter(SMALL_MODEL, adapter).layers[0]!.down
    const at = (row: number, column: number) => row * shape.hidden + column
    for (const [row, column] of [
      [0, 0],
      [3, 5],
      [shape.width - 1, shape.hidden - 1],
    ] as const) {
      const product = b[row * 2]! * a[column]! + b[row * 2 + 1]! * a[shape.hidden + column]!
      expect(merged[at(row, column)]).toBeCloseTo(before[at(row, column)]! + 2 * product, 6)
    }
    expect(SMALL_MODEL.layers[0]!.down).toEqual(before)
  })

  it('merging refuses an adapter with another number of layers', () => {
    const { layers, ...rest } = randomAdapter(SMALL_MODEL, 2, 3)
    expect(() => mergeAdapter(SMALL_MODEL, { ...rest, layers: layers.slice(1) })).toThrow(
      expect.objectContaining({ name: 'AdapterFileError' }),
    )
  })
})

describe('refused as no adapter of the model', () => {
  const refused = (bytes: Uint8Array) =>
    expect(() => readArtifact(bytes, shape)).toThrow(
      expect.objectContaining({ name: 'AdapterFileError' }),
    )

  it.each([
    ['another formula', { use_dora: true }],
    ['tokens that switch it on', { alora_invocation_tokens: [1] }],
    ['another method', { peft_type: 'LOHA' }],
    ['trained biases', { bias: 'all' }],
    ['ranks of their own', { rank_pattern: { q_proj: 4 } }],
    ['whole modules', { modules_to_save: ['lm_head'] }],
    ['no rank', { r: 0 }],
    ['too high a rank', { r: 257 }],
    ['a rank that is not that of the tensors', { r: 1 }],
    ['no alpha', { lora_alpha: null }],
  ])('an adapter with a config with %s is refused', (_what, changes) => {
    expect(() => readArtifact(withConfig({}), shape)).not.toThrow()
    refused(withConfig(changes))
  })

  it('an archive without its files is refused', () => {
    refused(new Uint8Array())
    refused(writeTar(new Map([['adapter_config.json', text('{}')]])))
    refused(patched({ 'adapter_config.json': text('not json') }))
  })

  it('tensors of another model and unused tensors are refused', () => {
    const files = readTar(artifactOf(randomAdapter(SMALL_MODEL, 2, 1)))
    const { tensors, metadata } = readSafetensors(files.get('adapter_model.safetensors')!)
    const changed = (
      change: (
        copy: Map<string, typeof tensors extends ReadonlyMap<string, infer T> ? T : never>,
      ) => void,
    ) => {
      const copy = new Map(tensors)
      change(copy)
      const file = writeSafetensors({ tensors: copy, metadata })
      return patched({ 'adapter_model.safetensors': file })
    }
    refused(changed((copy) => copy.delete(NAME_B)))
    refused(changed((copy) => copy.set('lm_head.lora_A', copy.get(NAME_A)!)))
    refused(changed((copy) => copy.set(NAME_A, { ...copy.get(NAME_A)!, shape: [shape.width, 2] })))
  })

  it('every truncated file is refused without allocating its claimed size', () => {
    const bytes = artifactOf(randomAdapter(SMALL_MODEL, 2, 1))
    // The last 1,536 bytes may be nothing but padding and the archive's end.
    for (let length = 0; length < bytes.length - 1536; length += 97) {
      refused(bytes.slice(0, length))
    }
  })
})

describe('safetensors', () => {
  /** A file with the given header over some bytes of data. */
  function fileOf(header: unknown, data: Uint8Array): Uint8Array {
    const json = text(JSON.stringify(header))
    const length = new Uint8Array(8)
    new DataView(length.buffer).setBigUint64(0, BigInt(json.length), true)
    return new Uint8Array(Buffer.concat([length, json, data]))
  }
  const refused = (bytes: Uint8Array) =>
    expect(() => readSafetensors(bytes)).toThrow(
      expect.objectContaining({ name: 'AdapterFileError' }),
    )

  it('safetensors of float16 and bfloat16 are read', () => {
    const data = Uint8Array.of(0x00, 0x3e, 0x00, 0xc0, 0xc0, 0x3f, 0x00, 0xc1)
    const header = {
      half: { dtype: 'F16', shape: [2], data_offsets: [0, 4] },
      brain: { dtype: 'BF16', shape: [1, 2], data_offsets: [4, 8] },
    }
    const { tensors } = readSafetensors(fileOf(header, data))
    expect([...tensors.get('half')!.values]).toEqual([1.5, -2])
    expect([...tensors.get('brain')!.values]).toEqual([1.5, -8])
  })

  it.each([
    ['a length past the end', { a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }],
    ['offsets that are not the size', { a: { dtype: 'F32', shape: [1], data_offsets: [0, 3] } }],
    ['a negative size', { a: { dtype: 'F32', shape: [-1], data_offsets: [4, 0] } }],
    ['an unknown type', { a: { dtype: 'I64', shape: [0], data_offsets: [0, 0] } }],
    ['a type of the prototype', { a: { dtype: 'toString', shape: [0], data_offsets: [0, 0] } }],
    [
      'tensors that share bytes',
      {
        a: { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
        b: { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
      },
    ],
    ['an entry that is no object', { a: 7 }],
  ])('refuses %s', (_what, header) => {
    refused(fileOf(header, new Uint8Array(4)))
  })

  it('safetensors with non-finite numbers or invalid headers are refused', () => {
    const header = { a: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } }
    refused(fileOf(header, Uint8Array.of(0, 0, 0x80, 0x7f)))
    refused(fileOf(header, new Uint8Array(4)).with(9, 0x7d))
    refused(Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 127))
  })
})

describe('tar', () => {
  it('written archives are compatible with tar in both directions', () => {
    const files = new Map([
      ['a.txt', text('hello')],
      ['empty', new Uint8Array()],
      ['block', new Uint8Array(512).fill(7)],
    ])
    const bytes = writeTar(files)
    expect(bytes.length % 512).toBe(0)
    expect(new TextDecoder().decode(bytes.subarray(257, 262))).toBe('ustar')
    expect([...readTar(bytes)].map(([name, content]) => [name, [...content]])).toEqual(
      [...files].map(([name, content]) => [name, [...content]]),
    )
  })

  it('a tar header with a wrong checksum is refused', () => {
    const bytes = writeTar(new Map([['a.txt', text('hello')]]))
    bytes[0] = 98
    expect(() => readTar(bytes)).toThrow(expect.objectContaining({ name: 'AdapterFileError' }))
  })
})
