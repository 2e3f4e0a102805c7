/** Messages that are being edited: texts as they are, parts of other kinds as JSON. Pure. */
import { parseExact } from '../api/exact-json.ts'
import type { Message } from '../parts/messages/messages.ts'

/** Unsaved edits by message. */
export type Drafts = ReadonlyMap<Message, string>

function isText({ content }: Message): boolean {
  return typeof content === 'string' || content === null || content === undefined
}

/** The initial text of a message's editor. */
export function textOf(message: Message): string {
  const { content } = message
  return isText(message)
    ? ((content as string | null | undefined) ?? '')
    : JSON.stringify(content, null, 2)
}

/** @throws Error when the text should be JSON but is not */
export function changed(message: Message, text: string): Message {
  // Missing content differs from empty content.
  if (text === textOf(message)) return message
  if (isText(message)) return { ...message, content: text }
  try {
    return { ...message, content: parseExact(text) }
  } catch {
    throw new Error('The edited message is not valid JSON.')
  }
}

export function canChange(message: Message, text: string): boolean {
  try {
    changed(message, text)
    return true
  } catch {
    return false
  }
}

/** @param text - null ends the editing */
export function withDraft(drafts: Drafts, message: Message, text: string | null): Drafts {
  const others = [...drafts].filter(([other]) => other !== message)
  return new Map(text === null ? others : [...others, [message, text]])
}

/** The messages with all edits applied. @throws Error when an edit should be JSON but is not */
export function changeAll(messages: readonly Message[], drafts: Drafts): readonly Message[] {
  return messages.map((message) => {
    const text = drafts.get(message)
    return text === undefined ? message : changed(message, text)
  })
}
