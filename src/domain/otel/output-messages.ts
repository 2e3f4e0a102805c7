/** Messages of an output: chunks of a stream are joined, and runs of tools told from choices between responses. Pure. */
import { isObject } from '../json/is-object.ts'
import type { ChatMessage } from './span-messages.ts'

/** Roles that no model answers with. */
const SENT_ROLES: ReadonlySet<string> = new Set(['tool', 'user', 'system', 'developer'])

interface Answers {
  /** What are choices. */
  readonly choices: readonly ChatMessage[]
  /** All messages of the run in their order; null where there was none. */
  readonly run: readonly ChatMessage[] | null
}

/**
 * The answers among the messages of an output.
 *
 * Spec: none, an addition. Choice: where results of tools or messages that were sent stand among the answers, these
 * follow each other: the last is the only choice, without the calls that have a result, and all are kept beside it.
 */
export function splitRun(messages: readonly ChatMessage[]): Answers {
  const isRun = messages.some(({ role }) => SENT_ROLES.has(role))
  const last = messages.findLast(({ role }) => !SENT_ROLES.has(role))
  const answered = new Set(
    messages.flatMap(({ role, tool_call_id }) => (role === 'tool' ? [tool_call_id] : [])),
  )
  if (last === undefined || !isRun) return { choices: messages, run: null }
  const { tool_calls = [], ...answer } = last
  const open = tool_calls.filter(({ id }) => id === null || !answered.has(id))
  return { choices: [open.length > 0 ? { ...answer, tool_calls: open } : answer], run: messages }
}

/** One message where all but the last have an empty text as their reason to finish; anything else as it is. */
export function joinChunks(value: unknown): unknown {
  if (!Array.isArray(value) || value.length < 2 || !value.every(isObject)) return value
  const isStream = value.every(
    ({ parts, finish_reason }, index) =>
      Array.isArray(parts) && (finish_reason === '') === index < value.length - 1,
  )
  return isStream ? [{ ...value.at(-1), parts: value.flatMap(({ parts }) => parts) }] : value
}
