/** The context of a response: all responses before it, read from the store. */
import type { Principal } from '../../domain/access/permissions.ts'
import type { IndexedItem } from '../../domain/chat/responses/responses-input.ts'
import {
  CONTEXT_CHARS_MAX,
  CONTEXT_RESPONSES_MAX,
  findResponseOfItem,
  isOwnResponse,
  isResponseId,
  listTurnItems,
  type StoredResponse,
} from '../../domain/chat/responses/responses-record.ts'
import { ApiError } from '../../errors.ts'
import type { InputItem } from '../../schemas/chat/responses/responses-input.ts'
import type { ResponseStore } from '../../store/api/chat/recordings.ts'

/** Returns the response if the caller may see it, otherwise null. */
export async function findOwnResponse(
  responses: ResponseStore,
  id: string,
  caller: Principal,
): Promise<StoredResponse | null> {
  const found = isResponseId(id) ? await responses.findResponse(id) : null
  return found !== null && isOwnResponse(found, caller) ? found : null
}

/**
 * Returns the items of a response and of all previous ones, oldest first.
 *
 * @throws ApiError previous_response_not_found, context_length_exceeded
 */
export async function readContext(
  responses: ResponseStore,
  previousId: string | null | undefined,
  caller: Principal,
): Promise<IndexedItem[]> {
  const turns: InputItem[][] = []
  let chars = 0
  for (let id = previousId ?? null; id !== null; ) {
    const found = await findOwnResponse(responses, id, caller)
    const param = 'previous_response_id'
    if (found === null) throw new ApiError('previous_response_not_found', { param })
    chars += charsOf(found)
    if (turns.length === CONTEXT_RESPONSES_MAX || chars > CONTEXT_CHARS_MAX) throw tooLong(param)
    turns.push(listTurnItems(found))
    id = found.previous_response_id
  }
  return turns
    .toReversed()
    .flat()
    .map((item) => ({ item, place: 'previous_response_id' }))
}

/**
 * Replaces references to items by the items.
 *
 * @throws ApiError invalid_value for a reference to something that the caller may not see, context_length_exceeded
 */
export async function resolveReferences(
  responses: ResponseStore,
  items: readonly InputItem[],
  caller: Principal,
): Promise<InputItem[]> {
  /** Caches responses, each of which is read once. */
  const known = new Map<string, InputItem[]>()
  let readChars = 0
  /** A small request may name one large item many times. */
  let namedChars = 0
  const resolved: InputItem[] = []
  for (const [index, item] of items.entries()) {
    if (item.type !== 'item_reference') {
      resolved.push(item)
      continue
    }
    const owner = findResponseOfItem(item.id ?? '')
    if (owner !== null && !known.has(owner)) {
      const found = await findOwnResponse(responses, owner, caller)
      readChars += found === null ? 0 : charsOf(found)
      if (known.size === CONTEXT_RESPONSES_MAX) throw tooLong(pathOf(index))
      if (readChars > CONTEXT_CHARS_MAX) throw tooLong(pathOf(index))
      known.set(owner, found === null ? [] : listTurnItems(found))
    }
    const meant = known.get(owner ?? '')?.find(({ id }) => id === item.id)
    if (meant === undefined) throw unknownItem(index)
    namedChars += JSON.stringify(meant).length
    if (namedChars > CONTEXT_CHARS_MAX) throw tooLong(pathOf(index))
    resolved.push(meant)
  }
  return resolved
}

function charsOf({ input_json, response_json }: StoredResponse): number {
  return input_json.length + response_json.length
}

function tooLong(param: string): ApiError {
  const message = 'The stored responses that this one continues are too many or too long.'
  return new ApiError('context_length_exceeded', { param, message })
}

function pathOf(index: number): string {
  return `input[${index}].id`
}

function unknownItem(index: number): ApiError {
  const param = pathOf(index)
  return new ApiError('invalid_value', { param, message: `${param} names no stored item` })
}
