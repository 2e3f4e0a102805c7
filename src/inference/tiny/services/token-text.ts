/** Texts to tokens and back, as the model reads them. */
import { refuse } from '../../../errors.ts'
import type { Engine } from '../host/engine.ts'
import type { Generation } from '../sampling/steps.ts'
import { encodePlain, type PlainPrompt, requireIds } from '../text/plain-prompt.ts'
import type { PromptRequest } from '../text/prompt-plan.ts'
import { decodeText } from '../text/text-assembler.ts'

/** What is cut, or put together. */
export interface TokenPlan {
  readonly kind: 'tokens'
  readonly of:
    | { readonly prompt: PlainPrompt | PromptRequest }
    | { readonly ids: readonly number[] }
  readonly priority: number
  readonly adapterPath: string | null
}

export interface TokensPiece {
  readonly type: 'tokens'
  readonly ids: readonly number[]
  /** The text of each token by itself, with U+FFFD for bytes that are not a whole character. */
  readonly texts: readonly string[]
  /** The text of all. */
  readonly text: string
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number
}

/** Limit: a longer text is not cut; it takes a fifth of a second, in which the process does nothing else. */
const CHARS_MAX = 262_144

/**
 * A text may have more tokens than the context.
 *
 * @throws ApiError context_length_exceeded, invalid_value
 */
// biome-ignore lint/correctness/useYield: nothing has to be computed.
export function* tellTokens(engine: Engine, { of }: TokenPlan): Generation<TokensPiece> {
  const { tokenizer, shape } = engine
  if ('ids' in of) requireIds(of.ids, tokenizer.size, 'tokens')
  const ids = 'ids' in of ? of.ids : encode(engine, of.prompt)
  const bytes = ids.map(tokenizer.bytesOf)
  const text = decodeText(Buffer.concat(bytes))
  const texts = bytes.map(decodeText)
  return [{ type: 'tokens', ids, texts, text, contextTokens: shape.context }]
}

function encode({ tokenizer, prompt: chat }: Engine, prompt: PlainPrompt | PromptRequest) {
  if (!('plain' in prompt)) return chat.encode({ ...prompt, tokensKept: null })
  if (prompt.plain.length > CHARS_MAX) {
    refuse('invalid_value', prompt.param, `${prompt.param} has more than ${CHARS_MAX} characters.`)
  }
  return encodePlain(tokenizer, prompt, CHARS_MAX)
}
