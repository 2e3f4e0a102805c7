/**
 * Turns a conversation into the ids of a prompt, by the model's chat template or the client's own. A client's
 * template may loop for ever: where that matters, it is rendered in a thread that can be terminated.
 */
import { Template } from '@huggingface/jinja'
import { ApiError, refuse } from '../../../errors.ts'
import { ModelFileError } from '../model/gguf.ts'
import { renderClientTemplate, renderTemplate, type TemplateVariables } from './chat-template.ts'
import { escapeRegExp, findMarks, mapTexts, openingsOf, textsOf } from './prompt-texts.ts'
import type { Tokenizer } from './tokenizer.ts'

/** A message as templates see it. */
export interface PromptMessage {
  readonly role: string
  readonly content: string
  readonly name?: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly unknown[]
}

/** All that makes a prompt. */
export interface PromptPlan {
  readonly messages: readonly PromptMessage[]
  /** Null when there are none. */
  readonly tools: readonly unknown[] | null
  readonly documents: readonly unknown[] | null
  /** Further variables of the template; those of this plan win. */
  readonly variables: Readonly<Record<string, unknown>>
  /** Whether the template opens the assistant's answer. */
  readonly addGenerationPrompt: boolean
  /** Whether the prompt ends inside the last message. */
  readonly continueFinalMessage: boolean
  /** Whether the model's begin-of-sequence token comes first, if it has one. */
  readonly addSpecialTokens: boolean
  /** The client's template, or null for the model's. */
  readonly template: string | null
  /** Only this many of the last tokens are kept, of 0 a begin token alone; null for all. */
  readonly tokensKept: number | null
}

/** Makes prompts for one model. */
export interface ChatPrompt {
  /**
   * The ids of a conversation.
   *
   * @throws ApiError context_length_exceeded for texts that surely do not fit, invalid_value when the
   * template cannot be read or refuses the messages
   */
  encode(plan: PromptPlan): number[]
  /** The same, but rendering the template is left to the caller. */
  open(plan: PromptPlan): {
    readonly variables: TemplateVariables
    toIds(rendered: string): number[]
  }
}

/** Limit: characters of a prompt that is cut anyway; reading them takes a fifth of a second. */
const TRUNCATED_CHARS_MAX = 262_144

/**
 * A prompt maker.
 *
 * @param contextTokens - tokens of prompt and answer together
 * @throws ModelFileError when the model's template cannot be parsed
 */
export function createChatPrompt(
  source: string,
  tokenizer: Tokenizer,
  contextTokens: number,
): ChatPrompt {
  const own = parseOwnTemplate(source)
  const { controlTexts } = tokenizer
  const openings = controlTexts.length === 0 ? null : openingsOf(controlTexts)
  const controls = new RegExp(`(${controlTexts.map(escapeRegExp).join('|')})`, 'u')
  // No token has more bytes than the longest one, and no message takes less than a token.
  const charsFit = contextTokens * tokenizer.tokenBytesMax

  function requireConstraintSize(
    chars: number,
    messages: number,
    { tokensKept }: PromptPlan,
  ): void {
    const charsMax = tokensKept === null ? charsFit : Math.max(charsFit, TRUNCATED_CHARS_MAX)
    if (chars <= charsMax && messages <= charsMax) return
    throw promptTooLong(contextTokens, null)
  }

  function tokenize(rendered: string, mark: string): number[] {
    if (openings === null) return tokenizer.encode(rendered.replaceAll(mark, ''))
    // Splitting by a group keeps the control texts, at the odd places.
    return rendered.split(controls).flatMap((part, place) => {
      const id = place % 2 === 1 ? tokenizer.controlId(part) : null
      return id === null ? tokenizer.encode(part.replaceAll(mark, '')) : [id]
    })
  }

  const open: ChatPrompt['open'] = (plan) => {
    const { template, messages, tools, documents, variables } = plan
    const said = textsOf(messages)
    requireConstraintSize(said.join('').length, messages.length, plan)
    const inputs = { messages, tools, documents, variables }
    const [guard, end] = findMarks([template ?? source, ...textsOf(inputs)])
    const marked =
      openings === null
        ? inputs
        : mapTexts(inputs, (text) => text.replaceAll(openings, `$<first>${guard}`))
    const opened = plan.continueFinalMessage ? markEnd(marked.messages, end) : marked.messages
    return {
      variables: {
        ...marked.variables,
        messages: opened,
        tools: marked.tools,
        documents: marked.documents,
        add_generation_prompt: plan.addGenerationPrompt,
      },
      toIds(rendered) {
        const text = plan.continueFinalMessage ? cutAfter(rendered, end) : rendered
        requireConstraintSize(text.length, 0, plan)
        const ids = tokenize(text, guard)
        const begin = plan.addSpecialTokens ? tokenizer.beginId : null
        const all = begin === null ? ids : [begin, ...ids]
        if (plan.tokensKept === null) return all
        // A model needs something to continue: without a prompt, the token that begins a text.
        if (plan.tokensKept === 0) return tokenizer.beginId === null ? [] : [tokenizer.beginId]
        return all.slice(-plan.tokensKept)
      },
    }
  }

  return {
    open,
    encode(plan) {
      const { variables, toIds } = open(plan)
      const { template } = plan
      return toIds(
        template === null
          ? renderTemplate(own, variables, 'messages')
          : renderClientTemplate(template, variables),
      )
    },
  }
}

/**
 * The refusal of a prompt that leaves no room for an answer.
 *
 * @param promptTokens - null when it is too long to be counted
 * @param param - the field of the request
 */
export function promptTooLong(
  contextTokens: number,
  promptTokens: number | null,
  param = 'messages',
): ApiError {
  const size = promptTokens === null ? `more than ${contextTokens}` : `${promptTokens}`
  // A conversation may have come as something else than messages.
  const what = param === 'messages' ? 'the prompt' : param
  return new ApiError('context_length_exceeded', {
    message: `This model's maximum context length is ${contextTokens} tokens, but ${what} makes up ${size} tokens and an answer needs at least one. Shorten it.`,
    param,
  })
}

/** The messages with a mark behind the text of the last one. */
function markEnd(messages: readonly PromptMessage[], end: string): PromptMessage[] {
  const last = messages.length - 1
  return messages.map((message, place) =>
    place === last ? { ...message, content: message.content + end } : message,
  )
}

/** Spec: §4.3 continue_final_message. Choice: what the template adds behind the message is cut off. */
function cutAfter(rendered: string, end: string): string {
  const at = rendered.lastIndexOf(end)
  if (at >= 0) return rendered.slice(0, at).replaceAll(end, '')
  const message = 'continue_final_message needs a chat template that shows the last message.'
  refuse('invalid_value', 'continue_final_message', message)
}

function parseOwnTemplate(source: string): Template {
  try {
    return new Template(source)
  } catch (cause) {
    throw new ModelFileError(`the chat template cannot be parsed: ${String(cause)}`)
  }
}
