/**
 * The end user of a call: the person for whom an application made it, as the client names them. The user of the key, who
 * is another one, is `svc_user_id`. Pure.
 */
import { isObject } from '../json/is-object.ts'
import { parseLossless, toDouble } from '../json/json-text.ts'
import { valueAt } from '../query/query-values.ts'

/** Limit: characters of the id of an end user; a longer text is none. */
const END_USER_CHARS_MAX = 256

/**
 * Attributes that name the end user; the first that does counts. `user` is also where a span of any dialect has it
 * (domain/otel/dialects). Each is found flat as well as nested.
 */
const ATTRIBUTES = [
  'end_user_id',
  'user',
  'user.id',
  'enduser.id',
  'user_id',
  'userId',
  'langfuse.user.id',
  'langfuse_user_id',
  'metadata.user_id',
] as const

/** Fields of a request to a model that name the end user: of OpenAI, the newer first, and of Anthropic. */
const REQUEST_FIELDS = ['safety_identifier', 'user', 'metadata.user_id'] as const

/** Fields of which a request to a model has one besides `model`. */
export const PROMPT_FIELDS = ['messages', 'input', 'prompt', 'contents'] as const

/** Texts of requests without these names hold no end user. */
const REQUEST_NAMES = /"(?:safety_identifier|user|user_id)"\s*:/

/**
 * Reads the end user of a call.
 *
 * Spec: §2.5 (an addition). Choice: attributes come before fields of the request; a whole number counts as its digits, and
 * of inputs only those of a request to a model are read, because `user` may mean anything elsewhere.
 *
 * @returns null when none is named
 */
export function readEndUser(attributes: unknown, inputs: unknown): string | null {
  return (
    firstOf(attributes, ATTRIBUTES) ?? (isRequest(inputs) ? firstOf(inputs, REQUEST_FIELDS) : null)
  )
}

/** The same for inputs as JSON text, which is parsed only when it can name an end user. */
export function readEndUserOfText(attributes: unknown, inputs_json: string): string | null {
  const inputs = REQUEST_NAMES.test(inputs_json) ? parseLossless(inputs_json) : null
  return readEndUser(attributes, inputs)
}

function firstOf(value: unknown, paths: readonly string[]): string | null {
  if (!isObject(value)) return null
  for (const path of paths) {
    const id =
      toId(value[path]) ?? (path.includes('.') ? toId(valueAt(value, path.split('.'))) : null)
    if (id !== null) return id
  }
  return null
}

function isRequest(inputs: unknown): boolean {
  return (
    isObject(inputs) &&
    typeof inputs.model === 'string' &&
    PROMPT_FIELDS.some((field) => Object.hasOwn(inputs, field))
  )
}

function toId(value: unknown): string | null {
  const number = toDouble(value)
  if (typeof number === 'number') return Number.isSafeInteger(number) ? String(number) : null
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' || text.length > END_USER_CHARS_MAX || text.includes('\0') ? null : text
}
