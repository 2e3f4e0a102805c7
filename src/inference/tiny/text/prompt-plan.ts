/** Reads the prompt settings of a chat request. Independent of vocabulary and template. */
import { resolveAddGenerationPrompt } from '../../../domain/chat/chat-rules.ts'
import { ApiError } from '../../../errors.ts'
import { CHAT_DEFAULTS, type ChatCompletionRequest } from '../../../schemas/chat/chat-request.ts'
import type { PromptMessage, PromptPlan } from './chat-prompt.ts'

type Message = ChatCompletionRequest['messages'][number]

/** A prompt before the context is known. */
export interface PromptRequest extends Omit<PromptPlan, 'tokensKept'> {
  /** Tokens to keep, -1 for what fits beside the answer, null for all. */
  readonly truncateTo: number | null
  /** Text that precedes the answer, because the answer continues the last message; or null. */
  readonly echo: string | null
}

/**
 * The prompt of a request.
 *
 * @param tools - those that it shows; all of the request by default
 * @throws ApiError invalid_value for content that is not text
 *
 * Spec: §4.3 messages, documents, tools, chat_template, chat_template_kwargs, echo.
 * Choice: an empty list of tools or documents is as none; a variable of chat_template_kwargs cannot
 * replace the messages, the tools, the documents or add_generation_prompt.
 */
export function planPrompt(
  request: ChatCompletionRequest,
  tools: readonly unknown[] = request.tools ?? [],
): PromptRequest {
  const messages = request.messages.map(readMessage)
  const addGenerationPrompt = resolveAddGenerationPrompt(request)
  return {
    messages,
    tools: filled(tools),
    documents: filled(request.documents),
    variables: request.chat_template_kwargs ?? {},
    addGenerationPrompt,
    continueFinalMessage: request.continue_final_message ?? CHAT_DEFAULTS.continue_final_message,
    addSpecialTokens: request.add_special_tokens ?? CHAT_DEFAULTS.add_special_tokens,
    template: request.chat_template ?? null,
    truncateTo: request.truncate_prompt_tokens ?? null,
    echo: request.echo === true ? findEcho(messages, addGenerationPrompt) : null,
  }
}

/** Spec: §4.3 echo. Choice: without a generation prompt the answer has the last message's role. */
function findEcho(messages: readonly PromptMessage[], addGenerationPrompt: boolean): string | null {
  const last = messages.at(-1)
  if (last === undefined) return null
  return addGenerationPrompt && last.role !== 'assistant' ? null : last.content
}

function filled<T>(list: readonly T[] | null | undefined): readonly T[] | null {
  return list === null || list === undefined || list.length === 0 ? null : list
}

/**
 * A message as the template sees it.
 *
 * Spec: §2.10.
 * Choice: text parts are joined as they are; a refusal stands for missing content; the deprecated
 * function_call is shown as a tool call.
 */
function readMessage(message: Message, index: number): PromptMessage {
  const path = `messages[${index}]`
  if (message.audio !== undefined && message.audio !== null) throw notText(`${path}.audio`)
  const { name, tool_call_id, function_call } = message
  const called = function_call ? [{ type: 'function', function: function_call }] : []
  const calls = [...(message.tool_calls ?? []), ...called]
  return {
    role: message.role,
    content: readContent(message.content ?? message.refusal ?? '', `${path}.content`),
    ...(name ? { name } : {}),
    ...(tool_call_id ? { tool_call_id } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function readContent(content: NonNullable<Message['content']>, path: string): string {
  if (typeof content === 'string') return content
  const texts = content.map((part, index) => {
    if (typeof part === 'string') return part
    const isText = part.type === 'text' && typeof part.text === 'string'
    if (!isText) throw notText(`${path}[${index}]`)
    return part.text
  })
  return texts.join('')
}

function notText(param: string): ApiError {
  return new ApiError('invalid_value', { message: 'The model reads text only.', param })
}
