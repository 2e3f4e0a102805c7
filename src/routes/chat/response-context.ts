/** What a response is told of those before it: read from the store, as far back as there is any. */
import type { Principal } from '../../domain/access/permissions.ts'
import type { PlacedItem } from '../../domain/chat/responses-input.ts'
import {
  CONTEXT_CHARS_MAX,
  CONTEXT_RESPONSES_MAX,
  findResponseOfItem,
  isOwnResponse,
  isResponseId,
  listTurnItems,
  type StoredResponse,
} from '../../domain/chat/responses-record.ts'
import { ApiError } from '../../errors.ts'
import type { InputItem } from '../../schemas/chat/responses/responses-input.ts'
import type { ResponseStore } from '../../store/api/chat/responses.ts'

/** The response, where the caller may see it; else null. */
export async function findOwnResponse(
  responses: ResponseStore,
  id: string,
  caller: Principal,
): Promise<StoredResponse | null> {
  const found = isResponseId(id) ? await responses.findResponse(id) : null
  return found !== null && isOwnResponse(found, caller) ? found : null
}

/**
 * The items of a response and of all that it goes on from, the oldest first.
 *
 * @throws ApiError previous_response_not_found, context_length_exceeded
 */
export async function readContext(
  responses: ResponseStore,
  previousId: string | null | undefined,
  caller: Principal,
): Promise<PlacedItem[]> {
  const turns: InputItem[][] = []
  let chars = 0
  for (let id = previousId ?? null; id !== null; ) {
    const found = await findOwnResponse(responses, id, caller)
    const param = 'previous_response_id'
    if (found === null) throw new ApiError('previous_response_not_found', { param })
    chars += found.input_json.length + found.response_json.length
    if (turns.length === CONTEXT_RESPONSES_MAX || chars > CONTEXT_CHARS_MAX) {
      const message = 'The responses before this one are too many or too long.'
      throw new ApiError('context_length_exceeded', { param, message })
    }
    turns.push(listTurnItems(found))
    id = found.previous_response_id
  }
  return turns
    .toReversed()
    .flat()
    .map((item) => ({ item, place: 'previous_response_id' }))
}

/**
 * Items with the items in the place of references to them.
 *
 * @throws ApiError invalid_value for a reference to nothing that the caller may see
 */
export async function resolveReferences(
  responses: ResponseStore,
  items: readonly InputItem[],
  caller: Principal,
): Promise<InputItem[]> {
  /** Each response is read once. */
  const known = new Map<string, InputItem[]>()
  const resolved: InputItem[] = []
  for (const [index, item] of items.entries()) {
    if (item.type !== 'item_reference') {
      resolved.push(item)
      continue
    }
    const owner = findResponseOfItem(item.id ?? '')
    if (owner !== null && !known.has(owner)) {
      if (known.size === CONTEXT_RESPONSES_MAX) throw unknownItem(index)
      const found = await findOwnResponse(responses, owner, caller)
      known.set(owner, found === null ? [] : listTurnItems(found))
    }
    const meant = known.get(owner ?? '')?.find(({ id }) => id === item.id)
    if (meant === undefined) throw unknownItem(index)
    resolved.push(meant)
  }
  return resolved
}

function unknownItem(index: number): ApiError {
  const param = `input[${index}].id`
  return new ApiError('invalid_value', { param, message: `${param} names no stored item` })
}
