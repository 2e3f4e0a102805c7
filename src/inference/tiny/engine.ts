/**
 * A loaded model with all that generations share: tokenizer, prompt maker, transformer.
 * One engine serves one thread; its generations take turns and never overlap.
 */
import { type ChatPrompt, createChatPrompt } from './chat-prompt.ts'
import { type GrammarEngine, openGrammarEngine } from './grammar-engine.ts'
import { loadModel, type ModelShape } from './model.ts'
import { createPrefixCache, type PrefixCache } from './prefix-cache.ts'
import { createTokenizer, type Tokenizer } from './tokenizer.ts'
import { createTransformer, type Transformer } from './transformer.ts'

/** Everything about a model that does not change while it answers. */
export interface Engine {
  /** Its `context` is already cut to what the engine was allowed. */
  readonly shape: ModelShape
  readonly tokenizer: Tokenizer
  readonly prompt: ChatPrompt
  readonly transformer: Transformer
  /** Prompts that were read before. */
  readonly prefixes: PrefixCache
  /** Opened by the first who asks. */
  grammars(): Promise<GrammarEngine>
}

/**
 * An engine over a GGUF file.
 *
 * @param contextTokensMax - cuts the model's context, to bound memory
 * @throws ModelFileError when the file is no usable model
 */
export function createEngine(
  file: Uint8Array,
  contextTokensMax = Number.POSITIVE_INFINITY,
): Engine {
  const loaded = loadModel(file)
  const context = Math.min(loaded.shape.context, contextTokensMax)
  const shape = { ...loaded.shape, context }
  const { vocabulary } = loaded
  const tokenizer = createTokenizer(vocabulary)
  let grammars: Promise<GrammarEngine> | null = null
  return {
    shape,
    tokenizer,
    prompt: createChatPrompt(loaded.chatTemplate, tokenizer, context),
    transformer: createTransformer({ ...loaded, shape }),
    prefixes: createPrefixCache(shape),
    grammars() {
      grammars ??= openGrammarEngine(vocabulary)
      return grammars
    },
  }
}
