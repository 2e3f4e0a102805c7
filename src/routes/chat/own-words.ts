/** Chats that other routes ask for: what is refused of them is named as the client's own request names it. */
import { ApiError } from '../../errors.ts'
import { SchemaError } from '../../http/body/validation.ts'
import { requireAnswerable } from '../../inference/chat/completion-run.ts'
import type { ServedModel } from '../../inference/models/registry.ts'
import { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { toProblems } from '../../schemas/problems.ts'

/** The path of a chat's field to that of the client's field. */
type Rename = (param: string) => string

/** The checked chat. @throws SchemaError, ApiError of the rule that it breaks */
export function requireChat(
  draft: unknown,
  model: ServedModel,
  rename: Rename,
): ChatCompletionRequest {
  const parsed = ChatCompletionRequest.safeParse(draft)
  if (!parsed.success) {
    const problems = toProblems(parsed.error.issues, draft)
    throw new SchemaError(problems.map((one) => ({ ...one, path: rename(one.path) })))
  }
  try {
    requireAnswerable(parsed.data, model)
  } catch (error) {
    throw toOwnWords(error, rename)
  }
  return parsed.data
}

/** What a model makes; what it refuses, too, in the words of the client. */
export async function* inOwnWords<T>(made: AsyncIterable<T>, rename: Rename): AsyncGenerator<T> {
  try {
    yield* made
  } catch (error) {
    throw toOwnWords(error, rename)
  }
}

/** An error to throw in place of one of a chat. */
export function toOwnWords(error: unknown, rename: Rename): unknown {
  if (!(error instanceof ApiError) || error.param === null) return error
  const { code, message, headers, cause, retryAfterS, param } = error
  const told = message.replace(WORD, (word) => (isField(word, param) ? rename(word) : word))
  const options = { message: told, headers, cause, param: rename(param) }
  return new ApiError(code, retryAfterS === null ? options : { ...options, retryAfterS })
}

/** What may be the path of a field in a sentence. */
const WORD = /(?<![\w.`])[a-z]\w*(?:\.\w+|\[\d+\])*/g

/** Whether a word names a field: the one in question, or one with an underscore, which no other word has. */
function isField(word: string, param: string): boolean {
  // Sentences speak of models, and do not mean the field.
  if (word === param) return word !== 'model'
  const [head = ''] = /^\w+/.exec(word) ?? []
  return head.includes('_') && Object.hasOwn(ChatCompletionRequest.shape, head)
}
