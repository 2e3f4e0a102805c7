/**
 * Checks the tools of a request and the choice among them against the abilities of the model. Pure; messages never
 * repeat what a client sent.
 */
import { refuse } from '../../errors.ts'
import { CHAT_DEFAULTS, type ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { ChatTool } from '../../schemas/chat/chat-tool-fields.ts'

/** Abilities of a model with tools. */
interface ToolCapabilities {
  readonly tools: boolean
  readonly otherTools?: boolean
}

/** A tool that is a function. */
export type FunctionTool = ChatTool & { readonly function: NonNullable<ChatTool['function']> }

export function isFunctionTool(tool: ChatTool): tool is FunctionTool {
  return (tool.type ?? 'function') === 'function' && (tool.function ?? null) !== null
}

/**
 * Refuses tools that the model does not know, also where they are not called.
 *
 * Spec: §4.3 tools.
 * Choice: other types than function only for models whose engine gets them as they are.
 */
export function requireKnownTools(
  { tools, tool_choice: choice }: ChatCompletionRequest,
  { otherTools = false }: ToolCapabilities,
): void {
  if (otherTools) return
  const place = (tools ?? []).findIndex((tool) => !isFunctionTool(tool))
  const isOther = typeof choice === 'object' && choice !== null && choice.type !== 'function'
  const param = place >= 0 ? `tools[${place}].type` : isOther ? 'tool_choice.type' : null
  if (param === null) return
  refuse('unsupported_value', param, `${param} must be function: the model knows no other tools.`)
}

/** Spec: §4.3 tool_choice. Choice: which other types name a known tool is for the engine to say. */
export function requireKnownToolChoice(
  request: ChatCompletionRequest,
  { tools }: ToolCapabilities,
): void {
  const choice = request.tool_choice ?? CHAT_DEFAULTS.tool_choice
  if (choice === 'none') return
  if (!tools) {
    const rule = 'tool_choice must be none: the model does not call tools. Allowed values: none.'
    refuse('unsupported_value', 'tool_choice', rule)
  }
  if (typeof choice === 'string' && choice !== 'auto' && choice !== 'required') {
    const rule = 'tool_choice must be one of none, auto, required, or an object naming a function.'
    refuse('unsupported_value', 'tool_choice', rule)
  }
  const known = request.tools ?? []
  if (known.length === 0) {
    refuse('invalid_value', 'tool_choice', 'tool_choice other than none needs tools to be given.')
  }
  if (typeof choice === 'string' || choice.type !== 'function') return
  if (known.some((tool) => isFunctionTool(tool) && tool.function.name === choice.function?.name)) {
    return
  }
  const rule = 'tool_choice must name a function that is listed in tools.'
  refuse('invalid_value', 'tool_choice.function.name', rule)
}
