/** Converts the messages of a chat to a prompt of the AI SDK. Error messages never repeat prompt text. */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { parseContinuation, readExtraContent } from '../../domain/chat/continuation.ts'
import { isSystem } from '../../domain/chat/messages/chat-turns.ts'
import { isObject } from '../../domain/json/is-object.ts'
import { parseLossless } from '../../domain/json/json-text.ts'
import { filledTextOrNull, objectOrEmpty, textOrEmpty } from '../../domain/json/json-values.ts'
import { refuse } from '../../errors.ts'
import type { ChatMessage } from '../../schemas/chat/chat-message.ts'
import type { PackageTraits } from './fields.ts'
import { type FileRules, textsOf, toUserParts } from './prompt-files.ts'

type Fields = Readonly<Record<string, unknown>>
type MessageOf<R extends string> = Extract<LanguageModelV4Message, { role: R }>
type AssistantPart = MessageOf<'assistant'>['content'][number]
type ResultPart = MessageOf<'tool'>['content'][number]

/** Texts of a result that holds only files. */
const FILES_FOLLOW = 'The result is in the next message.'

/**
 * @throws ApiError unsupported_value, invalid_value, missing_required_parameter
 *
 * Spec: §4.3 messages.
 * Choice: system messages after others become texts of the user where a package does not take them. Files of results
 * follow as a message of the user: few packages send them otherwise.
 */
export function toPrompt(
  messages: readonly ChatMessage[],
  traits: PackageTraits,
  rules: FileRules,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  const toolNames = new Map<string, string>()
  let files: MessageOf<'user'>['content'] = []
  const flush = () => {
    if (files.length > 0) addUser(prompt, files)
    files = []
  }
  for (const [index, message] of messages.entries()) {
    const { role, content } = message
    const place = `messages[${index}]`
    if (role === 'tool') {
      const { result, more } = toResult(message, place, toolNames, rules)
      addResult(prompt, result)
      files.push(...more)
      continue
    }
    flush()
    if (isSystem(role)) {
      addSystem(prompt, textsOf(content, `${place}.content`), traits)
    } else if (role === 'user') {
      addUser(prompt, toUserParts(content, `${place}.content`, rules))
    } else if (role === 'assistant') {
      const parts = toAssistantParts(message, place, traits)
      for (const part of parts) {
        if (part.type === 'tool-call') toolNames.set(part.toolCallId, part.toolName)
      }
      if (parts.length > 0) prompt.push({ role, content: parts })
    } else {
      const param = `${place}.role`
      const rule = `${param} must be system, developer, user, assistant or tool.`
      refuse('unsupported_value', param, rule)
    }
  }
  flush()
  return prompt
}

function addSystem(
  prompt: LanguageModelV4Prompt,
  texts: readonly string[],
  { takesLaterSystem = false }: PackageTraits,
): void {
  const text = texts.join('\n')
  if (text === '') return
  const isFirst = prompt.every(({ role }) => role === 'system')
  if (isFirst || takesLaterSystem) prompt.push({ role: 'system', content: text })
  else addUser(prompt, [{ type: 'text', text }])
}

/** Neighbours of one role are joined: some providers take turns only. */
function addUser(prompt: LanguageModelV4Prompt, parts: MessageOf<'user'>['content']): void {
  const last = prompt.at(-1)
  if (parts.length === 0) return
  if (last?.role === 'user') last.content.push(...parts)
  else prompt.push({ role: 'user', content: [...parts] })
}

function addResult(prompt: LanguageModelV4Prompt, part: ResultPart): void {
  const last = prompt.at(-1)
  if (last?.role === 'tool') last.content.push(part)
  else prompt.push({ role: 'tool', content: [part] })
}

function toResult(
  { content, tool_call_id: id }: ChatMessage,
  place: string,
  toolNames: ReadonlyMap<string, string>,
  rules: FileRules,
): { readonly result: ResultPart; readonly more: MessageOf<'user'>['content'] } {
  const param = `${place}.tool_call_id`
  if (typeof id !== 'string') {
    refuse('missing_required_parameter', param, `${param} is required`)
  }
  const toolName = toolNames.get(id)
  if (toolName === undefined) {
    refuse('invalid_value', param, `${param} must be the id of an earlier tool call.`)
  }
  const parts = toUserParts(content, `${place}.content`, rules)
  const more = parts.filter(({ type }) => type === 'file')
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const value = texts.length === 0 && more.length > 0 ? FILES_FOLLOW : texts.join('\n')
  const output = { type: 'text' as const, value }
  return { result: { type: 'tool-result', toolCallId: id, toolName, output }, more }
}

function toAssistantParts(
  message: ChatMessage,
  place: string,
  traits: PackageTraits,
): AssistantPart[] {
  if (message.function_call) {
    const param = `${place}.function_call`
    refuse('unsupported_value', param, `${param} is not supported: send tool_calls.`)
  }
  const kept = listKept(message)
  const signatures = new Map(
    kept.flatMap(({ callId, metadata }) => (callId === null ? [] : [[callId, metadata] as const])),
  )
  const texts = [...textsOf(message.content, `${place}.content`), message.refusal]
  const calls = (message.tool_calls ?? []) as readonly Fields[]
  return [
    ...toReasoning(message, kept, traits),
    ...texts.flatMap((text): AssistantPart[] => (text ? [{ type: 'text', text }] : [])),
    ...calls.map((call, at) => {
      const part = toCall(call, `${place}.tool_calls[${at}]`)
      const own =
        readExtraContent(call.extra_content, traits.key) ?? signatures.get(part.toolCallId)
      return own === undefined ? part : { ...part, providerOptions: own }
    }),
  ]
}

interface KeptDetail {
  readonly text: string
  readonly metadata: NonNullable<ReturnType<typeof parseContinuation>>['metadata']
  readonly callId: string | null
}

/** Clients return either of two lists. */
function listKept({ reasoning_details: details, thinking_blocks: blocks }: ChatMessage) {
  const list = Array.isArray(details) ? details : Array.isArray(blocks) ? blocks : []
  return list.map(objectOrEmpty).flatMap(({ text, thinking, signature, data }): KeptDetail[] => {
    const kept = parseContinuation(signature ?? data)
    return kept === null ? [] : [{ text: textOrEmpty(text ?? thinking), ...kept }]
  })
}

/** Reasoning of other makers is left out: only its maker may read it. */
function toReasoning(
  message: ChatMessage,
  kept: readonly KeptDetail[],
  { takesPlainReasoning = false }: PackageTraits,
): AssistantPart[] {
  const own = kept.filter(({ callId }) => callId === null)
  if (own.length > 0) {
    return own.map(({ text, metadata }) => ({ type: 'reasoning', text, providerOptions: metadata }))
  }
  const plain = filledTextOrNull(message.reasoning) ?? filledTextOrNull(message.reasoning_content)
  return takesPlainReasoning && plain !== null ? [{ type: 'reasoning', text: plain }] : []
}

function toCall({ id, function: called }: Fields, place: string) {
  const { name, arguments: text } = objectOrEmpty(called)
  const input = typeof text === 'string' && text.trim() !== '' ? tryParse(text) : text || {}
  if (!isObject(input)) {
    const param = `${place}.function.arguments`
    refuse('invalid_value', param, `${param} must be the JSON text of an object.`)
  }
  if (typeof id !== 'string') {
    refuse('missing_required_parameter', `${place}.id`, `${place}.id is required`)
  }
  return { type: 'tool-call' as const, toolCallId: id, toolName: textOrEmpty(name), input }
}

function tryParse(text: string): unknown {
  try {
    return parseLossless(text)
  } catch {
    return null
  }
}
