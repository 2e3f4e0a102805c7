/**
 * Rewrites the ids of a response made by an engine to ids of this server, which stores it. Everything else passes
 * unchanged. Pure.
 */

import {
  type ResponseBody,
  type ResponseHead,
  renderResponse,
} from '../../domain/chat/responses/response-state.ts'
import { splitItemId, toPassedItemId } from '../../domain/chat/responses/responses-record.ts'
import { isObject } from '../../domain/json/is-object.ts'
import { splitItems } from '../../domain/json/json-members.ts'
import type { InputItem } from '../../schemas/chat/responses/responses-input.ts'
import { isLastEvent } from '../openai/event-rules.ts'
import { editMembers, findMember } from '../openai/request.ts'

/** Limit: items whose ids are replaced; later items keep theirs. */
const ITEMS_MAX = 10_000

type Fields = Readonly<Record<string, unknown>>

export interface PassedEvent {
  readonly type: string
  readonly json: string
  readonly isLast: boolean
}

interface PassedResponse {
  /** Returns the next event with ids of this server. @param json - the event verbatim */
  event(json: string): PassedEvent
  /** Takes a response that is not streamed. @param json - the response verbatim */
  whole(json: string): void
  /** Returns the first events of a response of which the engine sent none. */
  open(): PassedEvent[]
  /** Returns the last event after a failure or a cancellation. */
  fail(error: { readonly code: string; readonly message: string } | 'cancelled'): PassedEvent
  /** Returns the response in its current state. */
  response(): ResponseBody
  /** The same as JSON text. */
  json(): string
}

export function createPassedResponse(head: ResponseHead): PassedResponse {
  const ids = new Map<string, string>()
  const started = renderResponse(head, { status: 'in_progress', output: [] })
  let json = JSON.stringify(started)
  /** JSON texts of the complete items, for a response that breaks off. */
  let items: string[] = []
  let sequence = -1

  function idOf(engineId: string, type: unknown): string {
    const known = ids.get(engineId)
    if (known !== undefined || ids.size === ITEMS_MAX) return known ?? engineId
    const made = toPassedItemId(engineId, type, head.id, ids.size)
    ids.set(engineId, made)
    return made
  }

  function renameItem(text: string): string {
    const item: unknown = JSON.parse(text)
    if (!isObject(item) || typeof item.id !== 'string') return text
    return setMembers(text, { id: JSON.stringify(idOf(item.id, item.type)) })
  }

  function renameResponse(text: string): string {
    const output = findMember(text, 'output')
    return setMembers(text, {
      id: JSON.stringify(head.id),
      previous_response_id: JSON.stringify(started.previous_response_id),
      store: JSON.stringify(started.store),
      ...(output?.startsWith('[')
        ? { output: `[${splitItems(output).map(renameItem).join(',')}]` }
        : {}),
    })
  }

  /** Returns an event with the response in its current state. */
  function tell(type: string, isLast: boolean): PassedEvent {
    sequence += 1
    const event = `{"type":"${type}","sequence_number":${sequence},"response":${json}}`
    return { type, json: event, isLast }
  }

  function end(status: string, error: Fields | null): PassedEvent {
    json = setMembers(json, {
      status: JSON.stringify(status),
      error: JSON.stringify(error),
      output: `[${items.join(',')}]`,
    })
    return tell(status === 'failed' ? 'response.failed' : 'response.incomplete', true)
  }

  return {
    event(text) {
      const value = JSON.parse(text) as Fields
      const { type, sequence_number, item_id, item, response } = value
      if (typeof sequence_number === 'number') sequence = sequence_number
      const edits: Record<string, string> = {}
      if (typeof item_id === 'string') edits.item_id = JSON.stringify(idOf(item_id, null))
      if (isObject(item)) edits.item = renameItem(findMember(text, 'item') ?? 'null')
      if (isObject(response)) {
        json = renameResponse(findMember(text, 'response') ?? '{}')
        edits.response = json
      }
      if (type === 'response.output_item.done' && edits.item && items.length < ITEMS_MAX) {
        items.push(edits.item)
      }
      return { type: String(type), json: setMembers(text, edits), isLast: isLastEvent(value) }
    },
    whole(text) {
      json = renameResponse(text)
      items = splitItems(findMember(json, 'output') ?? '[]')
    },
    open: () => ['response.created', 'response.in_progress'].map((type) => tell(type, false)),
    fail: (error) => (error === 'cancelled' ? end('cancelled', null) : end('failed', { ...error })),
    response: () => JSON.parse(json) as ResponseBody,
    json: () => json,
  }
}

function setMembers(text: string, members: Readonly<Record<string, string>>): string {
  return editMembers(text, { set: new Map(Object.entries(members)) })
}

/** An item of an input, with its verbatim text if the client sent it. */
export interface ReferencedItem {
  readonly item: InputItem
  readonly json?: string | undefined
}

/**
 * Returns the request to send to the engine, which must store nothing.
 *
 * Choice: responses made by an engine are stored only here. The engine gets `store: false`, and earlier turns as
 * items. Reasoning that only the engine can read is sent if it has `encrypted_content`; otherwise it is left out,
 * since the engine no longer has it.
 * Spec: §4 (responses are an addition).
 *
 * @param body - JSON text
 * @param items - the whole input; null leaves the input unchanged
 */
export function renderPassedRequest(body: string, items: readonly ReferencedItem[] | null): string {
  const input = items?.flatMap(renderItem)
  return editMembers(body, {
    set: new Map([
      ['store', 'false'],
      ...(input ? [['input', `[${input.join(',')}]`] as const] : []),
    ]),
    remove: new Set(['previous_response_id']),
  })
}

function renderItem({ item, json = JSON.stringify(item) }: ReferencedItem): string[] {
  const fields: Fields = item
  const isReasoning = item.type === 'reasoning'
  const isSealed = typeof fields.encrypted_content === 'string'
  const isOpen = Array.isArray(item.content) && item.content.length > 0
  if (isReasoning && !isSealed && !isOpen) return []
  const id = splitItemId(item.id ?? '')
  if (id === null) return [json]
  const told = isReasoning && id.engines !== null ? id.engines : id.own
  return [setMembers(json, { id: JSON.stringify(told) })]
}
