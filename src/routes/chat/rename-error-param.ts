/** Runs chats for other routes, and translates their errors to the fields of the client's own request. */
import { ApiError } from '../../errors.ts'
import { SchemaError } from '../../http/body/parsing.ts'
import { requireAnswerable } from '../../inference/chat/completion-run.ts'
import type { ServedModel } from '../../inference/models/registry.ts'
import { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'

/** Maps the path of a chat's field to that of the client's field. */
type Rename = (param: string) => string

/** Returns the validated chat. @throws SchemaError, ApiError of the rule that it violates */
export function requireChat(
  draft: unknown,
  model: ServedModel,
  rename: Rename,
): ChatCompletionRequest {
  const parsed = ChatCompletionRequest.safeParse(draft)
  if (!parsed.success) throw new SchemaError(parsed.error, draft, rename)
  try {
    requireAnswerable(parsed.data, model)
  } catch (error) {
    throw renameErrorParam(error, rename)
  }
  return parsed.data
}

/** Awaits a result, and translates its errors, too. */
export async function renameErrors<T>(made: Promise<T>, rename: Rename): Promise<T> {
  try {
    return await made
  } catch (error) {
    throw renameErrorParam(error, rename)
  }
}

/** Runs a model, and translates its errors, too. */
export async function* renameErrorParams<T>(
  made: AsyncIterable<T>,
  rename: Rename,
): AsyncGenerator<T> {
  try {
    yield* made
  } catch (error) {
    throw renameErrorParam(error, rename)
  }
}

/** Returns the error to throw instead of one of a chat. */
export function renameErrorParam(error: unknown, rename: Rename): unknown {
  if (!(error instanceof ApiError) || error.param === null) return error
  const { code, message, headers, cause, isQuoted, retryAfterS, param } = error
  const told = message.replace(WORD, (word) => (isField(word, param) ? rename(word) : word))
  const options = { message: told, headers, cause, isQuoted, retryAfterS, param: rename(param) }
  return new ApiError(code, options)
}

/** Matches what may be the path of a field in a sentence. */
const WORD = /(?<![\w.`])[a-z]\w*(?:\.\w+|\[\d+\])*/g

/** Whether a word names a field: the one of the error, or one with an underscore, which no other word has. */
function isField(word: string, param: string): boolean {
  // In sentences `model` is a word, not the field.
  if (word === param) return word !== 'model'
  const [head = ''] = /^\w+/.exec(word) ?? []
  return head.includes('_') && Object.hasOwn(ChatCompletionRequest.shape, head)
}
