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

export interface TokensChunk {
  readonly type: 'tokens'
  /** Of a prompt; empty for ids, which the caller has. */
  readonly ids: readonly number[]
  /** The text of each token of a prompt by itself, with U+FFFD for bytes that are not a whole character. */
  readonly texts: readonly string[]
  /** The text that ids make together; empty for a prompt. */
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
export function* listTokens(engine: Engine, { of }: TokenPlan): Generation<TokensChunk> {
  const { tokenizer, shape } = engine
  const told = { type: 'tokens', contextTokens: shape.context } as const
  if ('ids' in of) {
    requireIds(of.ids, tokenizer.size, 'tokens')
    const text = decodeText(Buffer.concat(of.ids.map(tokenizer.bytesOf)))
    return [{ ...told, ids: [], texts: [], text }]
  }
  const ids = encode(engine, of.prompt)
  const texts = ids.map((id) => decodeText(tokenizer.bytesOf(id)))
  return [{ ...told, ids, texts, text: '' }]
}

function encode({ tokenizer, prompt: chat }: Engine, prompt: PlainPrompt | PromptRequest) {
  if (!('plain' in prompt)) return chat.encode({ ...prompt, tokensKept: null })
  if (prompt.plain.length > CHARS_MAX) {
    refuse('invalid_value', prompt.param, `${prompt.param} has more than ${CHARS_MAX} characters.`)
  }
  return encodePlain(tokenizer, prompt, CHARS_MAX)
}
