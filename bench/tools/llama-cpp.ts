/** llama.cpp on one thread, for comparing tokens, logits and speed with the embedded engine. */
import { importTool } from './find-tool.ts'

/** A model in llama.cpp. */
interface LlamaCpp {
  /** @param parsesControl - whether texts of control tokens become these tokens */
  tokenize(text: string, parsesControl: boolean): readonly number[]
  /** As many as were asked for; all can be computed at the same time. */
  readonly sequences: readonly LlamaSequence[]
}

/** One sequence of tokens. */
export interface LlamaSequence {
  clear(): Promise<void>
  /** Appends tokens; the logits after the last one, or after each of them. */
  append(ids: readonly number[], wants: 'last' | 'all'): Promise<readonly LlamaLogits[]>
}

/** Logits by token id, in the order of their size. */
type LlamaLogits = ReadonlyMap<number, number>

/** The library's answer for one token. */
type Evaluated = { readonly next: { readonly logits?: LlamaLogits } } | undefined

/** No sampling and no filter: the distribution of the model itself. */
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
  // With more threads a model as small as this one is many times slower.
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
        const before = wants === 'all' ? [] : ids.slice(0, -1)
        // With logits it computes token by token, without them all at once.
        if (before.length > 0) await sequence.evaluateWithoutGeneratingNewTokens(before)
        const input = ids.slice(before.length).map((id) => [id, { generateNext: UNFILTERED }])
        const output: readonly Evaluated[] = await sequence.controlledEvaluate(input)
        return output.flatMap((one) => one?.next.logits ?? [])
      },
    }
  })
  return { tokenize: (text, parsesControl) => model.tokenize(text, parsesControl), sequences }
}
