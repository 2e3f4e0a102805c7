/** llama.cpp on one thread, to compare the embedded engine with: its tokens, its logits, its speed. */
import { importTool } from './tools.ts'

/** A model in llama.cpp. */
export interface LlamaCpp {
  /** @param parsesControl - whether texts of control tokens become these tokens */
  tokenize(text: string, parsesControl: boolean): readonly number[]
  /** Sequences that can be computed at the same time, as many as were asked for. */
  readonly sequences: readonly LlamaSequence[]
}

/** One sequence of tokens. */
export interface LlamaSequence {
  clear(): Promise<void>
  /** Appends tokens; the logits after the last one, or after each of them. */
  append(ids: readonly number[], wants: 'last' | 'all'): Promise<readonly LlamaLogits[]>
}

/** Logits by token id, in the order of their size. */
export type LlamaLogits = ReadonlyMap<number, number>

/** Neither sampling nor a filter: the distribution of the model itself. */
const UNFILTERED = { logits: true, options: { temperature: 0, topK: 0, topP: 1 } }

/**
 * Loads a model; null where the tool is not installed.
 *
 * @param contextSize - tokens of one sequence
 */
export async function openLlamaCpp(
  modelPath: string,
  contextSize: number,
  count: number,
): Promise<LlamaCpp | null> {
  const library = await importTool('node-llama-cpp')
  if (library === null) return null
  // Why: with more threads a model as small as this becomes many times slower.
  const llama = await library.getLlama({
    build: 'never',
    gpu: false,
    maxThreads: 1,
    logLevel: library.LlamaLogLevel.error,
  })
  const model = await llama.loadModel({ modelPath })
  const context = await model.createContext({ contextSize, sequences: count, threads: 1 })
  const sequences = Array.from({ length: count }, (): LlamaSequence => {
    const sequence = context.getSequence()
    return {
      clear: () => sequence.clearHistory(),
      async append(ids, wants) {
        const input = ids.map((id, place) =>
          wants === 'all' || place === ids.length - 1 ? [id, { generateNext: UNFILTERED }] : id,
        )
        const output = await sequence.controlledEvaluate(input)
        return output.flatMap((one?: { next: { logits?: LlamaLogits } }) => one?.next.logits ?? [])
      },
    }
  })
  return { tokenize: (text, parsesControl) => model.tokenize(text, parsesControl), sequences }
}
