/**
 * Writes WebAssembly modules: instructions nest as expressions do, and become bytes in the standard's
 * binary format. Only what the kernels need; every function returns nothing and works on one memory.
 */

/** Encoded instructions. An expression leaves its value on the stack. */
export type Code = readonly number[]

export type ValueType = 'i32' | 'f32' | 'v128'

/** A parameter or local variable of a function. */
export interface Variable {
  readonly get: Code
  set(value: Code): Code
}

/** A function of a module, exported by its name. */
export interface WasmFunction {
  readonly name: string
  readonly params: readonly ValueType[]
  readonly locals: readonly ValueType[]
  readonly code: Code
}

/** Makes a variable of a function that is being written; it starts as zero. */
export type DeclareLocal = (type: ValueType) => Variable

/**
 * A function.
 *
 * @param params - names and types, in order
 * @param write - makes the instructions from the parameters' names
 */
export function defineFunction<Name extends string>(
  name: string,
  params: Readonly<Record<Name, ValueType>>,
  write: (params: Readonly<Record<Name, Variable>>, local: DeclareLocal) => Code,
): WasmFunction {
  const names = Object.keys(params) as Name[]
  const locals: ValueType[] = []
  const variables = names.map((one, index) => [one, variable(index)] as const)
  const local: DeclareLocal = (type) => variable(names.length + locals.push(type) - 1)
  const code = write(Object.fromEntries(variables) as Record<Name, Variable>, local)
  return { name, params: Object.values(params), locals, code }
}

const TYPES: Readonly<Record<ValueType, number>> = { i32: 0x7f, f32: 0x7d, v128: 0x7b }
const SECTION = { types: 1, imports: 2, functions: 3, exports: 7, code: 10 } as const
const NO_RESULT = 0x40
const END = 0x0b
/** The least alignment that a 32-bit number has: two to the power of two bytes. */
const ALIGNED = 2

/** The bytes of a module that imports its memory as `env.memory`. */
export function assemble(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ params }) => [
    0x60,
    ...list(params.map((type) => [TYPES[type]])),
    0,
  ])
  const memory = [...text('env'), ...text('memory'), 0x02, 0x00, 0]
  const exports = functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)])
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(SECTION.types, list(types)),
    ...section(SECTION.imports, list([memory])),
    ...section(SECTION.functions, list(functions.map((_, index) => unsigned(index)))),
    ...section(SECTION.exports, list(exports)),
    ...section(SECTION.code, list(functions.map((one) => sized(encodeBody(one))))),
  ])
}

function encodeBody({ locals, code }: WasmFunction): Code {
  return [...list(locals.map((type) => [1, TYPES[type]])), ...code, END]
}

function variable(index: number): Variable {
  return {
    get: [0x20, ...unsigned(index)],
    set: (value) => [...value, 0x21, ...unsigned(index)],
  }
}

/** Runs the body once and again while the condition holds. */
export function repeat(body: Code, condition: Code): Code {
  return [0x03, NO_RESULT, ...body, ...condition, 0x0d, 0, END]
}

/** Runs the body while the condition holds, maybe never. */
export function loopWhile(condition: Code, body: Code): Code {
  return [0x02, NO_RESULT, ...i32.isZero(condition), 0x0d, 0, ...repeat(body, condition), END]
}

/** Numbers of 32 bits: addresses in bytes, and counts. */
export const i32 = {
  constant: (value: number): Code => [0x41, ...signed(value)],
  add: binary(0x6a),
  subtract: binary(0x6b),
  multiply: binary(0x6c),
  and: binary(0x71),
  isZero: (value: Code): Code => [...value, 0x45],
  /** Both as unsigned. */
  isLess: binary(0x49),
}

/** Single floats. */
export const f32 = {
  constant: (value: number): Code => [0x43, ...bytesOf(value)],
  store: (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    ...[0x38, ALIGNED, ...unsigned(offset)],
  ],
  add: binary(0x92),
  divide: binary(0x95),
  max: binary(0x97),
}

/** Four floats side by side. */
export const f32x4 = {
  load: (address: Code, offset = 0): Code => [
    ...address,
    ...[0xfd, 0x00, ALIGNED, ...unsigned(offset)],
  ],
  /** One float of the memory, four times. */
  loadSplat: (address: Code, offset = 0): Code => [
    ...address,
    ...[0xfd, 0x09, ALIGNED, ...unsigned(offset)],
  ],
  store: (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    ...[0xfd, 0x0b, ALIGNED, ...unsigned(offset)],
  ],
  constant: (value: number): Code => [0xfd, 0x0c, ...[0, 1, 2, 3].flatMap(() => bytesOf(value))],
  splat: (value: Code): Code => [...value, 0xfd, 0x13],
  lane: (value: Code, lane: number): Code => [...value, 0xfd, 0x1f, lane],
  /** Four of the eight numbers of two vectors: 0 to 3 of the first, 4 to 7 of the second. */
  shuffle: (a: Code, b: Code, lanes: readonly number[]): Code => [
    ...a,
    ...b,
    ...[0xfd, 0x0d, ...lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => lane * 4 + byte))],
  ],
  add: binary(0xfd, 0xe4, 0x01),
  subtract: binary(0xfd, 0xe5, 0x01),
  multiply: binary(0xfd, 0xe6, 0x01),
  divide: binary(0xfd, 0xe7, 0x01),
  /** The smaller and the larger of two; of the first where one is no number. */
  min: binary(0xfd, 0xea, 0x01),
  max: binary(0xfd, 0xeb, 0x01),
  negate: (value: Code): Code => [...value, 0xfd, 0xe1, 0x01],
  /** To the nearest whole number, halves to the even one. */
  nearest: (value: Code): Code => [...value, 0xfd, 0x6a],
}

/** Four whole numbers side by side. */
export const i32x4 = {
  fromFloats: (value: Code): Code => [...value, 0xfd, 0xf8, 0x01],
  constant: (value: number): Code => [0xfd, 0x0c, ...[0, 1, 2, 3].flatMap(() => wordOf(value))],
  add: binary(0xfd, 0xae, 0x01),
  shiftLeft: (value: Code, bits: number): Code => [
    ...value,
    ...i32.constant(bits),
    ...[0xfd, 0xab, 0x01],
  ],
}

function binary(...opcode: number[]): (a: Code, b: Code) => Code {
  return (a, b) => [...a, ...b, ...opcode]
}

function section(id: number, content: Code): Code {
  return [id, ...sized(content)]
}

function sized(content: Code): Code {
  return [...unsigned(content.length), ...content]
}

function list(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()]
}

function text(value: string): Code {
  return sized([...new TextEncoder().encode(value)])
}

/** LEB128. */
function unsigned(value: number): Code {
  const low = value & 0x7f
  const rest = value >>> 7
  return rest === 0 ? [low] : [low | 0x80, ...unsigned(rest)]
}

function signed(value: number): Code {
  const low = value & 0x7f
  const rest = value >> 7
  const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)
  return isLast ? [low] : [low | 0x80, ...signed(rest)]
}

function bytesOf(value: number): Code {
  return [...new Uint8Array(Float32Array.of(value).buffer)]
}

function wordOf(value: number): Code {
  return [...new Uint8Array(Int32Array.of(value).buffer)]
}
