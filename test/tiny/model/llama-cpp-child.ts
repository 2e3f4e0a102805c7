/**
 * llama.cpp in a process of its own, as its binary does not survive the ends of a test's threads. Takes
 * one message of texts and token ids, answers with their ids and logits. For tests.
 */
import { openLlamaCpp } from '../../../bench/tools/llama-cpp.ts'

/** What is asked. */
export interface LlamaQuestion {
  readonly modelPath: string
  readonly texts: readonly string[]
  readonly sequences: readonly (readonly number[])[]
}

/** What is answered, in the order of the question. */
export interface LlamaAnswer {
  readonly ids: readonly { readonly plain: readonly number[]; readonly parsed: readonly number[] }[]
  /** By sequence, then by position. */
  readonly logits: readonly (readonly Float32Array[])[]
}

const CONTEXT_TOKENS = 2_048

process.once('message', async (question: LlamaQuestion) => {
  const llama = await openLlamaCpp(question.modelPath, CONTEXT_TOKENS, 1)
  const [sequence] = llama?.sequences ?? []
  if (llama === null || sequence === undefined) throw new Error('llama.cpp is not installed')
  const ids = question.texts.map((text) => ({
    plain: llama.tokenize(text, false),
    parsed: llama.tokenize(text, true),
  }))
  const logits: Float32Array[][] = []
  for (const tokens of question.sequences) {
    await sequence.clear()
    const rows = await sequence.append(tokens, 'all')
    logits.push(
      rows.map((row) => Float32Array.from({ length: row.size }, (_, id) => row.get(id) ?? NaN)),
    )
  }
  const answer: LlamaAnswer = { ids, logits }
  process.send?.(answer, () => process.exit())
})
