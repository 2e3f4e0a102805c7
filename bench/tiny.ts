/**
 * Tokens per second of the embedded model: the engine alone, through the backend with its process, and over HTTP. If
 * llama.cpp is installed (`npm run tools -- node-llama-cpp`), it is measured on the same file with one thread. All
 * variants take turns in one run.
 *
 * npm run bench -- tiny [rounds]
 */
import { readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { readCounts } from '../examples/script-arguments.ts'
import { createTinyBackend, TINY_MODEL_PATH } from '../src/inference/tiny/backend.ts'
import { createEngine } from '../src/inference/tiny/host/engine.ts'
import { createKvCache } from '../src/inference/tiny/model/kv-cache.ts'
import { startTinyServer } from './servers/tiny-server.ts'
import { type LlamaSequence, openLlamaCpp } from './tools/llama-cpp.ts'

/** Tokens of one sequence. */
const TOKENS = 256
const PASS = 32
const TOGETHER = 8
/** How long each variant is repeated per round, since one repetition can be very short. */
const ROUND_MS = 300

const [rounds = 7] = readCounts()

/** Runs once; returns how many tokens it made. */
type Variant = () => number | Promise<number>

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const backend = createTinyBackend({ queueMax: TOGETHER })
await backend.ready()
const server = await startTinyServer()

const idAt = (place: number): number => 3 + ((place * 7) % (engine.tokenizer.size - 3))
const passAt = (at: number): number[] => Array.from({ length: PASS }, (_, i) => idAt(at + i))

/** Advances all sequences token by token until each has TOKENS. */
function decode(count: number): number {
  const caches = Array.from({ length: count }, () => createKvCache(engine.shape))
  for (let place = 0; place < TOKENS; place++) {
    const ids = [idAt(place)]
    engine.transformer.run(caches.map((cache) => ({ ids, cache, wants: 'last' as const })))
  }
  return count * TOKENS
}

function prefill(): number {
  const cache = createKvCache(engine.shape)
  for (let at = 0; at < TOKENS; at += PASS) {
    engine.transformer.run([{ ids: passAt(at), cache, wants: 'last' }])
  }
  return TOKENS
}

/** Runs something several times at once and adds up the tokens. */
async function together(count: number, one: (seed: number) => Promise<number>): Promise<number> {
  const counts = await Promise.all(Array.from({ length: count }, (_, seed) => one(seed)))
  return counts.reduce((sum, tokens) => sum + tokens, 0)
}

/** A whole request to the backend. */
async function complete(seed: number): Promise<number> {
  const { signal } = new AbortController()
  const messages = [{ role: 'user', content: 'Tell me a story.' }]
  const request = { messages, seed, max_tokens: TOKENS, ignore_eos: true }
  const call = { request, body: JSON.stringify(request), model: 'tiny', requestId: 'bench' }
  let tokens = 0
  for await (const delta of backend.complete(call, { signal })) {
    if (delta.type === 'choice') tokens += delta.tokenCount
  }
  return tokens
}

/** Like `decode`: the next tokens are added after all sequences have their logits. */
async function decodeLlama(sequences: readonly LlamaSequence[]): Promise<number> {
  for (const sequence of sequences) await sequence.clear()
  for (let place = 0; place < TOKENS; place++) {
    await Promise.all(sequences.map((sequence) => sequence.append([idAt(place)], 'last')))
  }
  return sequences.length * TOKENS
}

async function prefillLlama(sequence: LlamaSequence): Promise<number> {
  await sequence.clear()
  for (let at = 0; at < TOKENS; at += PASS) await sequence.append(passAt(at), 'last')
  return TOKENS
}

const variants = new Map<string, Variant>([
  ['one sequence', () => decode(1)],
  ['eight sequences', () => decode(TOGETHER)],
  ['reading a prompt', prefill],
  ['one request', () => complete(1)],
  ['eight requests', () => together(TOGETHER, complete)],
  ['one request over HTTP', () => server.complete(1, TOKENS)],
  ['eight over HTTP', () => together(TOGETHER, (seed) => server.complete(seed, TOKENS))],
])
const llama = await openLlamaCpp(TINY_MODEL_PATH, 2 * TOKENS, TOGETHER)
const [first] = llama?.sequences ?? []
if (llama === null || first === undefined) {
  console.log('skipped: llama.cpp (npm run tools -- node-llama-cpp)')
} else {
  variants.set('llama.cpp: one sequence', () => decodeLlama([first]))
  variants.set('llama.cpp: eight sequences', () => decodeLlama(llama.sequences))
  variants.set('llama.cpp: reading a prompt', () => prefillLlama(first))
}

console.log(`${cpus()[0]?.model}, node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`)
console.log(`${rounds} rounds, ${TOKENS} tokens a sequence; tokens/s`)
const speeds = new Map<string, number[]>()
for (let round = 0; round <= rounds; round++) {
  for (const [name, run] of variants) {
    const begun = performance.now()
    let tokens = 0
    while (performance.now() - begun < ROUND_MS) tokens += await run()
    const speed = (tokens / (performance.now() - begun)) * 1_000
    // The first round only warms up.
    if (round > 0) speeds.set(name, [...(speeds.get(name) ?? []), speed])
  }
}

const medianOf = (name: string): number =>
  (speeds.get(name) ?? []).toSorted((a, b) => a - b)[rounds >> 1] ?? Number.NaN
for (const [name, values] of speeds) {
  const [median, low, high] = [medianOf(name), Math.min(...values), Math.max(...values)]
  console.log(
    `${name.padEnd(28)} ${median.toFixed(0).padStart(6)} (${low.toFixed(0)} to ${high.toFixed(0)})`,
  )
}
const compare = (name: string, to: string, goal: number): void => {
  const ratio = medianOf(name) / medianOf(to)
  console.log(`${name} to ${to}: ${ratio.toFixed(2)} (goal: ${goal})`)
}
if (llama !== null) {
  compare('one sequence', 'llama.cpp: one sequence', 1)
  compare('eight sequences', 'llama.cpp: eight sequences', 1)
  compare('reading a prompt', 'llama.cpp: reading a prompt', 1)
}
compare('eight requests', 'one request', 1)
compare('eight over HTTP', 'one request over HTTP', 1)
server.stop()
await backend.close()
process.exit(0)
