/** Entry of the thread in which large JSON bodies are parsed, validated and prepared. */
import { resourceLimits } from 'node:worker_threads'
import { limitsOfHeap } from '../../domain/json/json-limits.ts'
import { SchemaError } from '../../http/body/parsing.ts'
import { toValidationError } from '../../schemas/problems.ts'
import { serveThread } from '../../threads/serve-thread.ts'
import { prepareBody, type UnpreparedBody } from './preparations.ts'

const limits = limitsOfHeap(resourceLimits.maxOldGenerationSizeMb ?? 0, 'lossless')

serveThread<UnpreparedBody, unknown>(() => ({
  async run(body) {
    try {
      return await prepareBody(body, limits)
    } catch (error) {
      throw error instanceof SchemaError ? toValidationError(error.problems) : error
    }
  },
}))
