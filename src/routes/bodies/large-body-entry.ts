/** Entry of the thread in which large JSON bodies are parsed, validated and prepared. */
import { resourceLimits } from 'node:worker_threads'
import { decodeJsonBody, parseJsonBody } from '../../domain/json/json-body-text.ts'
import { limitsOfHeap } from '../../domain/json/json-limits.ts'
import { parseStrictly, parseTolerantly, SchemaError } from '../../http/body/parsing.ts'
import { toNeutralNames, toVendorText } from '../../http/body/vendor-names.ts'
import { toValidationError } from '../../schemas/problems.ts'
import { serveThread } from '../../threads/serve-thread.ts'
import type { PreparationContext } from './preparation.ts'
import { type PreparationName, preparationOf } from './preparations.ts'

export interface LargeBody extends Omit<PreparationContext, 'text'> {
  readonly name: PreparationName
  readonly bytes: Uint8Array
}

const limits = limitsOfHeap(resourceLimits.maxOldGenerationSizeMb ?? 0, 'lossless')

serveThread<LargeBody, unknown>(() => ({
  async run(body) {
    try {
      return await prepare(body)
    } catch (error) {
      throw error instanceof SchemaError ? toValidationError(error.problems) : error
    }
  },
}))

function prepare({ name, bytes, ...context }: LargeBody): unknown {
  const { schema, isLossless = false, prepare: run } = preparationOf(name)
  const text = decodeJsonBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const sent = parseJsonBody(text, { isLossless, limits })
  const { value, error } = context.isStrict
    ? parseStrictly(schema, sent)
    : parseTolerantly(schema, toNeutralNames(sent), toVendorText)
  if (error) throw error
  return run(value, { ...context, text })
}
