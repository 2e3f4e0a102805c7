/** Prompts without what makes no difference to their task. Pure. */
import { isObject } from '../../json/is-object.ts'
import { textOrNull } from '../../json/json-values.ts'

/** Whether a path of calls is that of their messages. */
export function isPromptPath(path: readonly string[]): boolean {
  return path.join('.') === 'inputs.messages'
}

/**
 * Returns a text that is the same for messages that differ in case, white space, Unicode form or the order of members
 * alone, or in whether a text is one content part.
 */
export function normalizePrompt(messages: readonly unknown[]): string {
  return JSON.stringify(messages.map(normalize))
}

function normalize(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()
  }
  if (Array.isArray(value)) {
    const [only, ...others] = value
    const text = isObject(only) && only.type === 'text' ? textOrNull(only.text) : null
    return text !== null && others.length === 0 ? normalize(text) : value.map(normalize)
  }
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  const sorted = members.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, member]) => [name, normalize(member)]))
}
