/** A prompt that is edited: its messages as texts, and the content that they make. Pure. */

import type { ObjectSchema } from '../../schemas/objects/object.ts'
import { membersOf } from '../api/wire.ts'
import { canonicalText } from '../objects/value-changes.ts'
import type { Message } from '../parts/messages/messages.ts'
import { changed, textOf } from '../playground/drafts.ts'

/** Limit: messages of a prompt that is edited. */
export const MESSAGES_MAX = 100

/** A message with the text of its editor. */
export interface PromptItem {
  /** Unique among the items of a draft. */
  readonly key: number
  readonly message: Message
  readonly text: string
}

export interface PromptDraft {
  /** The version that it started from; null: a new prompt. */
  readonly start: ObjectSchema | null
  /** The latest version that is known, on which it is saved; null: none. */
  readonly latest: ObjectSchema | null
  readonly items: readonly PromptItem[]
  readonly name: string
  /** What the next version changes, in words. */
  readonly message: string
  /** The version that somebody else has published since. */
  readonly newer: ObjectSchema | null
}

/** The messages of a prompt with messages or one text; null for any other object. */
export function promptMessagesOf(val: unknown): readonly Message[] | null {
  const { messages, content } = membersOf(val)
  if (typeof content === 'string' && messages === undefined) return [{ role: 'user', content }]
  const isList = Array.isArray(messages) && messages.every((one) => typeof one?.role === 'string')
  return isList ? messages : null
}

/** Whether a prompt is one text, without roles. */
export function isTextPrompt(val: unknown): boolean {
  const { messages, content } = membersOf(val)
  return typeof content === 'string' && messages === undefined
}

let keyCount = 0

export function toItem(message: Message): PromptItem {
  keyCount += 1
  return { key: keyCount, message, text: textOf(message) }
}

/** @param start - null: a new prompt; @param latest - the version on which it is saved */
export function openDraft(start: ObjectSchema | null, latest: ObjectSchema | null): PromptDraft {
  const messages = promptMessagesOf(start?.val) ?? [
    { role: 'system', content: '' },
    { role: 'user', content: '' },
  ]
  return {
    start,
    latest,
    items: messages.map(toItem),
    name: start?.object_id ?? '',
    message: '',
    newer: null,
  }
}

/** @throws Error when the text of a message should be JSON but is not */
export function messagesOf(items: readonly PromptItem[]): readonly Message[] {
  return items.map(({ message, text }) => changed(message, text))
}

/** The content of the next version. @throws Error as messagesOf does */
export function contentOf({ start, items, name }: PromptDraft): object {
  const messages = messagesOf(items)
  if (start === null) return { ...newPrompt(name.trim()), messages }
  const content = membersOf(start.val)
  return isTextPrompt(content)
    ? { ...content, content: messages[0]?.content ?? '' }
    : { ...content, messages }
}

/** Whether the texts are those of a version. */
export function isSameAs(version: ObjectSchema | null, draft: PromptDraft): boolean {
  if (version === null) return false
  try {
    return canonicalText(contentOf(draft)) === canonicalText(version.val)
  } catch {
    return false
  }
}

/** As the tracing SDKs publish one. */
function newPrompt(name: string): object {
  const bases = ['Prompt', 'Object', 'BaseModel']
  return {
    _type: 'MessagesPrompt',
    _class_name: 'MessagesPrompt',
    _bases: bases,
    name,
    description: null,
  }
}

/** Doubled braces stand for themselves. */
const VARIABLE = /\{\{|\}\}|\{(\w+)\}/g

/** The names of variables, such as `city` of `{city}`, in order of appearance. */
export function variablesIn(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name]) => name))
  return [...new Set(names.flatMap((name) => name ?? []))]
}

/** A message whose texts are not filled in: its braces are doubled. */
export function withoutVariables(message: Message): Message {
  const double = (text: string) => text.replace(/[{}]/g, '$&$&')
  const { content } = message
  if (typeof content === 'string') return { ...message, content: double(content) }
  if (!Array.isArray(content)) return message
  const parts = content.map((part) =>
    typeof part?.text === 'string' ? { ...part, text: double(part.text) } : part,
  )
  return { ...message, content: parts }
}
