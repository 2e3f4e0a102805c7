/** Converts the items of OpenAI's Responses, as they go in and come out, to chat messages. Pure. */
import { isObject } from '../../json/is-object.ts'

type Json = Readonly<Record<string, unknown>>

/** Whether a value is an item: a message, or one that is none by itself. */
export function isResponseItem(value: unknown): boolean {
  return isObject(value) && (isTyped(value) || typeof value.role === 'string')
}

/** The role of reasoning in LiteLLM's spans for Langfuse. */
const REASONING = 'reasoning_summary'

function isTyped({ type, role, summary, call_id, name, output }: Json): boolean {
  if (role === REASONING) return true
  if (type === 'reasoning') return Array.isArray(summary)
  if (typeof call_id !== 'string') return false
  return type === 'function_call'
    ? typeof name === 'string'
    : type === 'function_call_output' && output !== undefined
}

/**
 * Messages in place of items; anything else as it is. Reasoning and calls that follow each other are one message, as an
 * answer of chat has them.
 */
export function readResponseItems(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every(isResponseItem)) return value
  if (!value.some(isTyped)) return value
  const messages: Json[] = []
  for (const message of value.map(toMessage)) {
    const last = messages.at(-1)
    if (last !== undefined && isOneAnswer(last, message)) {
      messages[messages.length - 1] = joinTwo(last, message)
    } else messages.push(message)
  }
  return messages
}

/** What a whole response of OpenAI's API answers, or the input of a request of Responses; any other value as it is. */
export function readOpenAi(value: unknown): unknown {
  if (!isObject(value)) return value
  const { object, model, choices, output, input = value } = value
  const answer = choices ?? output
  if (typeof object === 'string' && Array.isArray(answer)) return answer
  return typeof model === 'string' ? input : value
}

function toMessage(item: Json): Json {
  const { type, role, call_id, name, arguments: given, output, summary, content } = item
  if (role === REASONING) return { role: 'assistant', content: null, reasoning_content: content }
  if (type === 'reasoning') {
    const text = textsOf(summary) || textsOf(content)
    return { role: 'assistant', content: null, reasoning_content: text }
  }
  if (type === 'function_call') {
    const call = { id: call_id, function: { name, arguments: given } }
    return { role: 'assistant', content: null, tool_calls: [call] }
  }
  if (type !== 'function_call_output') return item
  return { role: 'tool', tool_call_id: call_id, content: output }
}

function isOneAnswer(left: Json, right: Json): boolean {
  const areAnswers = left.role === 'assistant' && right.role === 'assistant'
  const isTwice = ['content', 'reasoning_content'].some((key) => left[key] && right[key])
  return areAnswers && !isTwice
}

function joinTwo(left: Json, right: Json): Json {
  const calls = [left.tool_calls ?? [], right.tool_calls ?? []].flat()
  return {
    ...left,
    ...right,
    content: left.content ?? right.content,
    reasoning_content: left.reasoning_content ?? right.reasoning_content,
    tool_calls: calls.length > 0 ? calls : undefined,
  }
}

function textsOf(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return parts.map((part) => (isObject(part) ? String(part.text ?? '') : '')).join('\n')
}
