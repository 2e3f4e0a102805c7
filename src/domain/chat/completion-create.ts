/** Converts a completion request in the envelope of the tracing SDKs to a chat request. Pure. */
import type { CompletionCreateRequest } from '../../schemas/chat/completion-create.ts'
import { isObject } from '../json/is-object.ts'

/** Fields that a chat does not have. */
const OWN_FIELDS: readonly string[] = ['messages', 'prompt', 'template_vars', 'stream']

/**
 * Returns the chat before validation, without null fields.
 *
 * @param promptMessages - messages of the published prompt, which go first
 */
export function toChatDraft(
  inputs: CompletionCreateRequest['inputs'],
  promptMessages: readonly unknown[],
  isStream: boolean,
): Record<string, unknown> {
  const kept = Object.entries(inputs).filter(
    ([name, value]) => value !== null && !OWN_FIELDS.includes(name),
  )
  const messages = [...promptMessages, ...(inputs.messages ?? [])]
  const { template_vars: values } = inputs
  const filled = values ? messages.map((message) => fillMessage(message, values)) : messages
  return { ...Object.fromEntries(kept), messages: filled, stream: isStream }
}

/** The messages of a published prompt, or null for any other object. */
export function toPromptMessages(value: unknown): readonly unknown[] | null {
  if (!isObject(value)) return null
  if (Array.isArray(value.messages)) return value.messages
  return typeof value.content === 'string' ? [{ role: 'user', content: value.content }] : null
}

type Values = Readonly<Record<string, unknown>>

function fillMessage(message: unknown, values: Values): unknown {
  if (!isObject(message)) return message
  const { content } = message
  if (typeof content === 'string') return { ...message, content: fillText(content, values) }
  if (!Array.isArray(content)) return message
  const parts = content.map((part: unknown) =>
    isObject(part) && typeof part.text === 'string'
      ? { ...part, text: fillText(part.text, values) }
      : part,
  )
  return { ...message, content: parts }
}

/** Spec: §4.3 (templates are not shown). Choice: as the SDK's own prompts are filled; what has no value stays. */
export function fillText(text: string, values: Values): string {
  return text.replace(/\{\{|\}\}|\{(\w+)\}/g, (found, name: string | undefined) => {
    if (name === undefined) return found.charAt(0)
    if (!Object.hasOwn(values, name)) return found
    const value = values[name]
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}
