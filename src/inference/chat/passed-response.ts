/**
 * A response that an engine makes itself, told under ids of this server, which keeps it. All else of it passes as it
 * came. Pure.
 */

import {
  type ResponseBody,
  type ResponseHead,
  renderResponse,
} from '../../domain/chat/responses-answer.ts'
import { splitItemId, toPassedItemId } from '../../domain/chat/responses-record.ts'
import { isObject } from '../../domain/json/is-object.ts'
import { splitItems } from '../../domain/json/json-members.ts'
import type { InputItem } from '../../schemas/chat/responses/responses-input.ts'
import { isLastEvent } from '../openai/event-rules.ts'
import { editMembers, findMember } from '../openai/request.ts'

/** Limit: items whose ids are replaced; later ones keep theirs. */
const ITEMS_MAX = 10_000

type Fields = Readonly<Record<string, unknown>>

export interface PassedEvent {
  readonly type: string
  readonly json: string
  readonly isLast: boolean
}

interface PassedResponse {
  /** The next event, in the words of this server. @param json - as it came */
  event(json: string): PassedEvent
  /** The response that came whole. @param json - as it came */
  whole(json: string): void
  /** The last event after a failure, or because it was cancelled. */
  fail(error: { readonly code: string; readonly message: string } | 'cancelled'): PassedEvent
  /** As it stands. */
  response(): ResponseBody
  /** The same as JSON text. */
  json(): string
}

export function createPassedResponse(head: ResponseHead): PassedResponse {
  const ids = new Map<string, string>()
  const started = renderResponse(head, { status: 'in_progress', output: [] })
  let json = JSON.stringify(started)
  /** Items that are whole, JSON texts, for a response that breaks off. */
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
    const { id, type } = JSON.parse(text) as Fields
    return typeof id === 'string' ? setMembers(text, { id: JSON.stringify(idOf(id, type)) }) : text
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

  function end(status: string, error: Fields | null): PassedEvent {
    json = setMembers(json, {
      status: JSON.stringify(status),
      error: JSON.stringify(error),
      output: `[${items.join(',')}]`,
    })
    const type = status === 'failed' ? 'response.failed' : 'response.incomplete'
    const event = `{"type":"${type}","sequence_number":${sequence + 1},"response":${json}}`
    return { type, json: event, isLast: true }
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
    fail: (error) => (error === 'cancelled' ? end('cancelled', null) : end('failed', { ...error })),
    response: () => JSON.parse(json) as ResponseBody,
    json: () => json,
  }
}

function setMembers(text: string, members: Readonly<Record<string, string>>): string {
  return editMembers(text, { set: new Map(Object.entries(members)) })
}

/** An item of an input, and its text as it came, where it came. */
export interface ToldItem {
  readonly item: InputItem
  readonly json?: string | undefined
}

/**
 * The request as an engine is told it that keeps nothing.
 *
 * Choice: responses that an engine makes are kept here and nowhere else: the engine is told `store: false`, and what came
 * before as items. Reasoning that only the engine can read is told where it came with `encrypted_content`, and is
 * otherwise left out, since the engine no longer knows it.
 * Spec: §4 (responses are an addition).
 *
 * @param body - JSON text
 * @param items - the whole input; null: it stays as it came
 */
export function renderPassedRequest(body: string, items: readonly ToldItem[] | null): string {
  const input = items?.flatMap(renderItem)
  return editMembers(body, {
    set: new Map([
      ['store', 'false'],
      ...(input ? [['input', `[${input.join(',')}]`] as const] : []),
    ]),
    remove: new Set(['previous_response_id']),
  })
}

function renderItem({ item, json = JSON.stringify(item) }: ToldItem): string[] {
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
