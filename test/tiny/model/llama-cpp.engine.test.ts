/**
 * The embedded engine against llama.cpp on the same file: the same tokens, the same logits. Skipped where
 * `npm run tools -- node-llama-cpp` was not run.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { findTool } from '../../../bench/tools/find-tool.ts'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { createEngine } from '../../../src/inference/tiny/host/engine.ts'
import { createKvCache } from '../../../src/inference/tiny/model/kv-cache.ts'
import type { LlamaAnswer, LlamaQuestion } from './llama-cpp-child.ts'

const isInstalled = findTool('node-llama-cpp') !== null
if (!isInstalled) process.stderr.write('skipped: llama.cpp (npm run tools -- node-llama-cpp)\n')

/** llama.cpp keeps keys, values and the inputs of its products in half precision. */
const LOGIT_TOLERANCE = 0.05
/** Characters of a text that is tokenized in one go. */
const CHUNK = 1_000
const TOKENS_MAX = 160
const PASS = 32

const CHILD = fileURLToPath(new URL('./llama-cpp-child.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** English prose and code: the project's own, 200 kB of it. */
function ownText(): string {
  const files = ['docs', 'src/inference/tiny', 'src/inference', 'src/domain'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`)
      .filter((name) => /\.(?:md|ts)$/.test(name))
      .map((name) => readFileSync(`${ROOT}${folder}/${name}`, 'utf8')),
  )
  return files.join('\n').slice(0, 200_000)
}

const PECULIAR = [
  '<|im_start|>user\nWhat is 3 plus 4?<|im_end|>\n<|im_start|>assistant\n3 plus 4 is 7.<|im_end|>',
  "Déjà vu: naïve façade, Straße, İstanbul, ΑΒΓ абв אבג ابت, 一二三, かな, 한글, e\u0301 — “it's” 'tis",
  '🙂👩‍👩‍👧‍👦🇩🇪 \u00a0\u2003\u200b\t\t\n\n  \r\n   x  ',
  "I'm you're we've she'll he'd it's CAN'T 12345678901234567890 3.14e-10 a_b-c+d===e!!!???",
  '<|endoftext|><|im_start|><|im_end|> <|im_start|>x<|im_end|',
  ' '.repeat(40) + 'a'.repeat(100) + '\n'.repeat(30),
]

const engine = createEngine(readFileSync(TINY_MODEL_PATH))
const { tokenizer, transformer, shape } = engine

/** Ids of a text in which control tokens' texts are these tokens. */
function encodeParsed(text: string): number[] {
  const control = tokenizer.controlTexts.map((one) => one.replace(/[|\\{}()[\]^$+*?.]/g, '\\$&'))
  return text
    .split(new RegExp(`(${control.join('|')})`))
    .flatMap((part) => tokenizer.controlId(part) ?? tokenizer.encode(part))
}

function logitsOf(ids: readonly number[]): Float32Array[] {
  const cache = createKvCache(shape)
  const rows: Float32Array[] = []
  for (let at = 0; at < ids.length; at += PASS) {
    const [part] = transformer.run([{ ids: ids.slice(at, at + PASS), cache, wants: 'all' }])
    rows.push(...(part ?? []).map((row) => row.slice()))
  }
  return rows
}

const own = ownText()
const chunks = [
  ...Array.from({ length: Math.ceil(own.length / CHUNK) }, (_, i) =>
    own.slice(i * CHUNK, (i + 1) * CHUNK),
  ),
  ...PECULIAR,
]
/** The peculiar texts, prose, code, and ids that make no text at all. */
const sequences = [
  ...[...PECULIAR, own.slice(500), own.slice(-2_000)].map((text) =>
    encodeParsed(text).slice(0, TOKENS_MAX),
  ),
  Array.from({ length: TOKENS_MAX }, (_, i) => (i * 197 + 3) % shape.vocab),
]

describe.skipIf(!isInstalled)('llama.cpp on the same file', () => {
  let answer: LlamaAnswer
  beforeAll(async () => {
    const child = fork(CHILD, [], { serialization: 'advanced', execArgv: [] })
    const question: LlamaQuestion = { modelPath: TINY_MODEL_PATH, texts: chunks, sequences }
    child.send(question)
    ;[answer] = await once(child, 'message')
  }, 60_000)

  it('makes the same tokens of 200 kB of English, code, other scripts and control tokens', () => {
    expect(own.length).toBe(200_000)
    for (const [place, text] of chunks.entries()) {
      expect(answer.ids[place]).toEqual({
        plain: tokenizer.encode(text),
        parsed: encodeParsed(text),
      })
    }
  })

  it('finds the same token the likeliest at every place, and differs by rounding alone', () => {
    for (const [index, ids] of sequences.entries()) {
      const theirs = answer.logits[index] ?? []
      expect(theirs).toHaveLength(ids.length)
      for (const [place, row] of logitsOf(ids).entries()) {
        const other = theirs[place]!
        const worst = row.reduce(
          (most, logit, id) => Math.max(most, Math.abs(logit - other[id]!)),
          0,
        )
        expect(worst).toBeLessThan(LOGIT_TOLERANCE)
        const best = row.indexOf(Math.max(...row))
        const theirBest = other.indexOf(Math.max(...other))
        // Two that are as likely as each other may stand in either order.
        const isTie = row[best]! - row[theirBest]! < worst
        expect(theirBest === best || isTie).toBe(true)
      }
    }
  })
})
