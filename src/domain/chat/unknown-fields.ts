/** Finds the fields of a request that are not in its schema. Pure. */
import { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'

/** Limits on the names in a response: how many, and characters of each. */
const UNKNOWN_NAMES_MAX = 16
const UNKNOWN_NAME_CHARS_MAX = 64

/**
 * Names of a request's fields that the schema does not have; null says nothing and is passed over.
 *
 * @param shape - of the schema. Default: that of chats
 */
export function findUnknownFields(
  request: Readonly<Record<string, unknown>>,
  shape: object = ChatCompletionRequest.shape,
): readonly string[] {
  return Object.entries(request)
    .filter(([name, value]) => value !== null && !Object.hasOwn(shape, name))
    .slice(0, UNKNOWN_NAMES_MAX)
    .map(([name]) => name.slice(0, UNKNOWN_NAME_CHARS_MAX))
}
