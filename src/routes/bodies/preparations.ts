/** All preparations by name, and what they have in common: a body is parsed, validated and prepared. */
import { decodeJsonBody, type JsonLimits, parseJsonBody } from '../../domain/json/json-limits.ts'
import { parseStrictly, parseTolerantly } from '../../http/body/parsing.ts'
import { toNeutralNames, toVendorText } from '../../http/body/vendor-names.ts'
import {
  prepareCompleted,
  prepareEnd,
  prepareStart,
  prepareUpserts,
} from '../calls/call-preparations.ts'
import { prepareObject, prepareTable, prepareTableUpdate } from '../objects/object-preparations.ts'
import type { Preparation, PreparationContext } from './preparation.ts'

const PREPARATIONS = {
  start: prepareStart,
  end: prepareEnd,
  upserts: prepareUpserts,
  completed: prepareCompleted,
  object: prepareObject,
  table: prepareTable,
  tableUpdate: prepareTableUpdate,
} as const

export type PreparationName = keyof typeof PREPARATIONS

/** What a preparation returns. */
export type Prepared<Name extends PreparationName> = Awaited<
  ReturnType<(typeof PREPARATIONS)[Name]['prepare']>
>

/** The bytes of a JSON body, and what its preparation gets besides its text. */
export interface UnpreparedBody extends Omit<PreparationContext, 'text'> {
  readonly name: PreparationName
  readonly bytes: Uint8Array
}

/**
 * Parses, validates and prepares a body.
 *
 * @param limits - default: those of the event loop
 * @throws ApiError invalid_json, request_too_large; what the preparation throws
 * @throws SchemaError when the body violates the schema
 */
export function prepareBody(
  { name, bytes, ...context }: UnpreparedBody,
  limits?: JsonLimits,
): unknown {
  const { schema, isLossless = false, prepare } = preparationOf(name)
  const text = decodeJsonBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  // Like the framework, which validates an absent body as null.
  const sent = parseJsonBody(text, { isLossless, limits }) ?? null
  const { value, error } = context.isStrict
    ? parseStrictly(schema, sent)
    : parseTolerantly(schema, toNeutralNames(sent), toVendorText)
  if (error) throw error
  return prepare(value, { ...context, text })
}

/** A preparation, whatever its types. */
function preparationOf(name: PreparationName): Preparation<unknown, unknown> {
  return PREPARATIONS[name] as Preparation<unknown, unknown>
}
