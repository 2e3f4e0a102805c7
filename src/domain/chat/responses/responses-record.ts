/**
 * Stored responses: their ids, their owners, and the context that they pass to later responses. Pure.
 *
 * Ids of items are made of the id of their response, so that a reference to an item names the row that has it.
 */
import { ApiError } from '../../../errors.ts'
import type { InputItem } from '../../../schemas/chat/responses/responses-input.ts'
import type { ResponseCreateRequest } from '../../../schemas/chat/responses/responses-request.ts'
import { canUseProject, type Principal } from '../../access/permissions.ts'

/** A row of the store. */
export interface StoredResponse {
  readonly id: string
  /** Project that it was made for; null: it belongs to its key. */
  readonly project_id: string | null
  readonly key_id: string
  readonly created_at_us: number
  readonly previous_response_id: string | null
  /** The response as sent to the client. */
  readonly response_json: string
  /** A list of the items of its own input, each with an id. */
  readonly input_json: string
}

/** Limits on the previous responses of a response. */
export const CONTEXT_RESPONSES_MAX = 1_000
export const CONTEXT_CHARS_MAX = 16 * 1024 * 1024

const RESPONSE_ID = /^resp_[0-9a-f]{32}$/
const ITEM_ID = /^([a-z]{2,6}_([0-9a-f]{32})_i?\d{1,6})(?:_(.+))?$/s

/** @param uuid - a new one */
export function toResponseId(uuid: string): string {
  return `resp_${uuid.replaceAll('-', '')}`
}

/** @param place - of the item: its number, after an `i` for items of the input */
export function toItemId(prefix: string, responseId: string, place: string | number): string {
  return `${prefix}_${responseId.slice('resp_'.length)}_${place}`
}

/**
 * Returns our id of an item that an engine produced: our prefix followed by the id of the engine.
 *
 * @param place - number of the item in its response
 */
export function toPassedItemId(engineId: string, type: unknown, responseId: string, place: number) {
  const prefix = /^([a-z]{2,6})_/.exec(engineId)?.[1] ?? ID_PREFIXES[String(type)] ?? 'item'
  return `${toItemId(prefix, responseId, place)}_${engineId}`
}

/** Our part of an item's id, and that of the engine that made it, or null; null for an id that was not made here. */
export function splitItemId(itemId: string): { own: string; engines: string | null } | null {
  const [, own, , engines = null] = ITEM_ID.exec(itemId) ?? []
  return own === undefined ? null : { own, engines }
}

export function isResponseId(text: string): boolean {
  return RESPONSE_ID.test(text)
}

/** The response that an item belongs to; null when the id was not made here. */
export function findResponseOfItem(itemId: string): string | null {
  const digits = ITEM_ID.exec(itemId)?.[2]
  return digits === undefined ? null : `resp_${digits}`
}

/**
 * Whether a caller may see a response: the keys of its project, or without one the key that made it.
 *
 * Choice: a response of another user is reported as not existing.
 * Spec: §5 (permission rules not shown).
 */
export function isOwnResponse(
  { project_id, key_id }: Pick<StoredResponse, 'project_id' | 'key_id'>,
  caller: Pick<Principal, 'keyId' | 'projects'>,
): boolean {
  return project_id === null ? key_id === caller.keyId : canUseProject(caller, project_id)
}

const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
}

/** Returns the items of a request's input in the long form in which they are stored and listed. */
export function listInputItems(
  { input }: Pick<ResponseCreateRequest, 'input'>,
  responseId: string,
): InputItem[] {
  const items: InputItem[] = typeof input === 'string' ? [{ role: 'user', content: input }] : []
  return (Array.isArray(input) ? input : items).map((item, index) => {
    const type = item.type ?? 'message'
    if (type === 'item_reference') return item
    const id = item.id || toItemId(ID_PREFIXES[type] ?? 'item', responseId, `i${index}`)
    const isMessage = type === 'message'
    return {
      ...item,
      type,
      id,
      ...(isMessage ? { content: toParts(item), status: item.status ?? 'completed' } : {}),
    }
  })
}

function toParts({ content, role }: InputItem): InputItem['content'] {
  if (typeof content !== 'string') return content
  return role === 'assistant'
    ? [{ type: 'output_text', text: content, annotations: [] }]
    : [{ type: 'input_text', text: content }]
}

/** The items of a response that later ones get: its input, then its output. */
export function listTurnItems({ input_json, response_json }: StoredResponse): InputItem[] {
  const input = JSON.parse(input_json) as InputItem[]
  const { output } = JSON.parse(response_json) as { output: InputItem[] }
  return [...input, ...output]
}

/** A list that is read forwards, as a page of it. @throws ApiError invalid_value for an unknown `after` */
export function pageItems(
  stored: StoredResponse,
  { after, limit, order }: { after: string | null; limit: number; order: 'asc' | 'desc' },
) {
  const items = JSON.parse(stored.input_json) as (InputItem & { id: string })[]
  const ordered = order === 'asc' ? items : items.toReversed()
  const at = after === null ? -1 : ordered.findIndex(({ id }) => id === after)
  if (after !== null && at === -1) {
    throw new ApiError('invalid_value', { param: 'after', message: 'after names no item' })
  }
  return ordered.slice(at + 1, at + 2 + limit)
}
