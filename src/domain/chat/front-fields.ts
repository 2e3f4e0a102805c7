/** Treats the fields of requests in other formats than chats by tables: one table for each front. Pure. */
import type { ChatMessage } from '../../schemas/chat/chat-message.ts'

/** A request of a chat before it is checked. */
export type ChatDraft = { messages: ChatMessage[]; [name: string]: unknown }

/**
 * The treatment of a field: passed to the chat, under its name there; used by this server; without an effect that the
 * client could miss; or refused unless its value is neutral.
 */
export type FrontFieldUse =
  | { readonly as: string }
  | 'translated'
  | 'kept'
  /** `allowed` is the only value that passes. */
  | { readonly refusal: string; readonly allowed?: string | false }

type FieldUses = Readonly<Record<string, FrontFieldUse>>
type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the fields of a request that are not supported, each with the message for its refusal.
 *
 * @param params - names of the fields to check
 */
export function findRefusedFields(
  uses: FieldUses,
  values: Fields,
  params: readonly string[] = Object.keys(uses),
): { readonly param: string; readonly message: string }[] {
  return params.flatMap((param) => {
    const use = uses[param]
    if (typeof use !== 'object' || !('refusal' in use)) return []
    const value = values[param]
    const { refusal, allowed } = use
    if (isNeutral(value) || value === allowed) return []
    const rule = allowed === undefined ? 'is not supported' : `must be ${allowed}`
    return [{ param, message: `${param} ${rule}: ${refusal}.` }]
  })
}

/** Returns the fields that a chat has, too, under their names there. */
export function carryOver(uses: FieldUses, values: Fields): Record<string, unknown> {
  const entries = Object.entries(uses).flatMap(([name, use]) =>
    typeof use === 'object' && 'as' in use && !isNeutral(values[name])
      ? [[use.as, values[name]]]
      : [],
  )
  return Object.fromEntries(entries)
}

/** Whether a value is the same as none. */
export function isNeutral(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}
