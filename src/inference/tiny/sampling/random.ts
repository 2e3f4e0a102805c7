/**
 * A seeded random generator (xoshiro128**) whose numbers depend on its seed and index alone.
 * It must never read a clock or the system's entropy.
 */

/** A stream of random numbers. */
export interface Random {
  /** A number in [0, 1) with 53 random bits. */
  next(): number
}

const GOLDEN = 0x9e3779b97f4a7c15n

/**
 * The generator of one choice of one request.
 *
 * @param seed - taken modulo 2^64, so a negative seed is as good as any
 * @param index - number of the choice; other numbers give unrelated generators
 */
export function createRandom(seed: bigint, index: number): Random {
  let mixer = BigInt.asUintN(64, mix(BigInt.asUintN(64, seed)) + BigInt(index) * GOLDEN)
  const words = new Uint32Array(4)
  for (let i = 0; i < 4; i += 2) {
    mixer = BigInt.asUintN(64, mixer + GOLDEN)
    const bits = mix(mixer)
    words[i] = Number(bits & 0xffffffffn)
    words[i + 1] = Number(bits >> 32n)
  }
  // The all-zero state would give zeros for ever.
  if (words.every((word) => word === 0)) words[0] = 1
  const nextWord = (): number => step(words)
  return {
    next: () => ((nextWord() >>> 5) * 2 ** 26 + (nextWord() >>> 6)) / 2 ** 53,
  }
}

/** The finalizer of SplitMix64: a bijection of 64 bits in which each bit depends on all. */
function mix(value: bigint): bigint {
  const a = BigInt.asUintN(64, (value ^ (value >> 30n)) * 0xbf58476d1ce4e5b9n)
  const b = BigInt.asUintN(64, (a ^ (a >> 27n)) * 0x94d049bb133111ebn)
  return b ^ (b >> 31n)
}

function step(words: Uint32Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = words
  const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0
  const c1 = c ^ a
  const d1 = d ^ b
  words[0] = a ^ d1
  words[1] = b ^ c1
  words[2] = c1 ^ (b << 9)
  words[3] = rotateLeft(d1, 11)
  return result
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
