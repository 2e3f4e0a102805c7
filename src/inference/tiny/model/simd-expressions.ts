/**
 * What the kernels' WebAssembly is put together from: pointers, sums of products, the exponential function.
 */
import { type Code, type DeclareLocal, f32x4, i32, i32x4, type Variable } from './wasm-assembler.ts'

/** Bytes of a float and of the four that are computed together. */
export const FLOAT = 4
export const VECTOR = 16
/** Powers of e beyond these are no floats any more. */
const [EXPONENT_MIN, EXPONENT_MAX] = [-87, 88]
/** ln 2 in two parts: the first has so few digits that its multiples are exact. */
const [LN2_HIGH, LN2_LOW] = [0.693359375, -2.121944400546906e-4]
/** e^r - 1 - r by r^2, the highest power first: minimax for |r| <= ln 2 / 2. */
const TAIL = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5,
]

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Moves a pointer on. */
export function move(pointer: Variable, bytes: Code | number): Code {
  return pointer.set(i32.add(pointer.get, typeof bytes === 'number' ? i32.constant(bytes) : bytes))
}

export function scaled(value: Code, factor: number): Code {
  return i32.multiply(value, i32.constant(factor))
}

export function addProduct(sum: Variable, a: Code, b: Code): Code {
  return sum.set(f32x4.add(sum.get, f32x4.multiply(a, b)))
}

/** The variable's four numbers joined into one, which then stands in all four places. */
export function joinLanes(value: Variable, join: (a: Code, b: Code) => Code): Code {
  return [
    [2, 3, 0, 1],
    [1, 0, 3, 2],
  ].flatMap((lanes) => value.set(join(value.get, f32x4.shuffle(value.get, value.get, lanes))))
}

/** e to the power of each number, to the last or last but one bit; exponents are cut to what fits. */
export function exponential(power: Code, local: DeclareLocal): { code: Code; value: Code } {
  const [x, whole] = [local('v128'), local('v128')]
  const [rest, tail] = [local('v128'), local('v128')]
  const cut = f32x4.max(
    f32x4.constant(EXPONENT_MIN),
    f32x4.min(f32x4.constant(EXPONENT_MAX), power),
  )
  const multiple = (factor: number): Code => f32x4.multiply(whole.get, f32x4.constant(factor))
  // 2^whole, written into the bits of a float's exponent.
  const scale = i32x4.shiftLeft(i32x4.add(i32x4.fromFloats(whole.get), i32x4.constant(127)), 23)
  const one = f32x4.constant(1)
  return {
    code: [
      ...x.set(cut),
      ...whole.set(f32x4.nearest(f32x4.multiply(x.get, f32x4.constant(Math.LOG2E)))),
      ...rest.set(f32x4.subtract(f32x4.subtract(x.get, multiple(LN2_HIGH)), multiple(LN2_LOW))),
      ...tail.set(f32x4.constant(0)),
      ...TAIL.flatMap((factor) =>
        tail.set(f32x4.add(f32x4.multiply(tail.get, rest.get), f32x4.constant(factor))),
      ),
      ...tail.set(f32x4.multiply(tail.get, f32x4.multiply(rest.get, rest.get))),
    ],
    value: f32x4.multiply(f32x4.add(f32x4.add(tail.get, rest.get), one), scale),
  }
}
