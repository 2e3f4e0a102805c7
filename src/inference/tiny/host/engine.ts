/**
 * A loaded model with the parts that generations share: tokenizer, prompt template, transformer. An engine belongs to
 * one process; its generations are interleaved and never run in parallel.
 */

import type { ConstraintThreads } from '../constraints/constraint-threads.ts'
import { type GrammarEngine, openGrammarEngine } from '../constraints/grammar-engine.ts'
import { mergeAdapter } from '../lora/adapter.ts'
import { readArtifact } from '../lora/artifact.ts'
import { loadModel, type ModelShape, type Vocabulary } from '../model/model.ts'
import { createTransformer, type Transformer } from '../model/transformer.ts'
import { type ChatPrompt, createChatPrompt } from '../text/chat-prompt.ts'
import { createTokenizer, type Tokenizer } from '../text/tokenizer.ts'

/** Everything about a model that does not change while it answers. */
export interface Engine {
  readonly shape: ModelShape
  readonly tokenizer: Tokenizer
  readonly prompt: ChatPrompt
  readonly transformer: Transformer
  /** Where grammars are compiled and clients' templates rendered; null: where the engine is. */
  readonly threads: ConstraintThreads | null
  /** Opened by the first request. */
  grammars(): Promise<GrammarEngine>
  /**
   * The same model with an adapter's weights added to its own; all else is shared.
   *
   * @param artifact - bytes of a checkpoint's file
   * @throws AdapterFileError when it is no adapter of this model
   */
  adapt(artifact: Uint8Array): Engine
}

/**
 * An engine over a GGUF file.
 *
 * @param createThreads - creates threads for what could loop
 * @throws ModelFileError when the file is no usable model
 */
export function createEngine(
  file: Uint8Array,
  createThreads: ((vocabulary: Vocabulary) => ConstraintThreads) | null = null,
): Engine {
  const model = loadModel(file)
  const { shape, vocabulary, chatTemplate } = model
  const tokenizer = createTokenizer(vocabulary)
  const threads = createThreads?.(vocabulary) ?? null
  let grammars: Promise<GrammarEngine> | null = null
  const engine: Engine = {
    shape,
    tokenizer,
    prompt: createChatPrompt(chatTemplate, tokenizer, shape.context),
    transformer: createTransformer(model),
    threads,
    grammars() {
      grammars ??= threads === null ? openGrammarEngine(vocabulary) : Promise.resolve(threads)
      return grammars
    },
    adapt(artifact) {
      const { adapter } = readArtifact(artifact, shape)
      const transformer = createTransformer(mergeAdapter(model, adapter))
      return { ...engine, transformer }
    },
  }
  return engine
}
