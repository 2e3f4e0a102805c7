/**
 * Tokens per second of the embedded model: one sequence, eight in one pass, and reading a prompt; beside
 * llama.cpp on the same file and one thread where node-llama-cpp is installed. In turns, in one run.
 *
 * npm run bench:tiny [-- rounds]
 */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { createEngine } from '../src/inference/tiny/engine.ts'
import { createKvCache } from '../src/inference/tiny/kv-cache.ts'

const MODEL = new URL('../src/inference/tiny/model/tiny.gguf', import.meta.url)
const TOKENS = 256
const PASS = 32

const [rounds = 5] = process.argv.slice(2).map(Number)

interface Variant {
  readonly name: string
  /** Runs once; returns how many tokens it made. */
  readonly run: () => number | Promise<number>
}

const engine = createEngine(readFileSync(MODEL))
const idAt = (place: number): number => 3 + ((place * 7) % (engine.tokenizer.size - 3))

/** Each of the sequences one token further, until all have TOKENS. */
function decode(sequences: number): number {
  const caches = Array.from({ length: sequences }, () => createKvCache(engine.shape))
  for (let place = 0; place < TOKENS; place++) {
    engine.transformer.run(
      caches.map((cache) => ({ ids: [idAt(place)], cache, wants: 'last' as const })),
    )
  }
  return sequences * TOKENS
}

function prefill(): number {
  const cache = createKvCache(engine.shape)
  for (let at = 0; at < TOKENS; at += PASS) {
    const ids = Array.from({ length: PASS }, (_, i) => idAt(at + i))
    engine.transformer.run([{ ids, cache, wants: 'last' }])
  }
  return TOKENS
}

const variants: Variant[] = [
  { name: 'one sequence', run: () => decode(1) },
  { name: 'eight sequences', run: () => decode(8) },
  { name: 'reading a prompt', run: prefill },
]

/** llama.cpp, where a user has installed it: it is no dependency of the project. */
async function openLlama(): Promise<Variant | null> {
  const name: string = 'node-llama-cpp'
  // biome-ignore lint/suspicious/noExplicitAny: its types are there only where it is installed.
  const library: any = await import(name).catch(() => null)
  if (library === null) return null
  const llama = await library.getLlama({ build: 'never', gpu: false, maxThreads: 1 })
  const model = await llama.loadModel({ modelPath: MODEL.pathname })
  const context = await model.createContext({ contextSize: 512, sequences: 1, threads: 1 })
  const sequence = context.getSequence()
  return {
    name: 'llama.cpp, one sequence',
    async run() {
      await sequence.clearHistory()
      for (let place = 0; place < TOKENS; place++) {
        await sequence.controlledEvaluate([
          [idAt(place), { generateNext: { probabilities: true } }],
        ])
      }
      return TOKENS
    },
  }
}

const llama = await openLlama()
if (llama === null) console.log('skipped: llama.cpp (node-llama-cpp is not installed)')
else variants.push(llama)

console.log(`${cpus()[0]?.model}, node ${process.version}, ${rounds} rounds of ${TOKENS} tokens`)
const speeds = new Map(variants.map(({ name }) => [name, [] as number[]]))
for (let round = 0; round <= rounds; round++) {
  for (const { name, run } of variants) {
    const begun = performance.now()
    const tokens = await run()
    // The first round only warms up.
    if (round > 0) speeds.get(name)?.push((tokens / (performance.now() - begun)) * 1000)
  }
}
for (const [name, values] of speeds) {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, middle, high] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)]
  const [a, b, c] = [low, middle, high].map((value) => Math.round(value ?? 0))
  console.log(`${name.padEnd(24)} ${b} tokens/s (${a} to ${c})`)
}
process.exit(0)
