/** Asks for vectors of texts, on the way of all completions: limits, places, fallbacks and records are theirs. */
import { ApiError } from '../../errors.ts'
import type { EmbeddingRequest } from '../../schemas/chat/embeddings.ts'
import { answerWhole } from './answer-run.ts'
import {
  type CompletionExchange,
  type CompletionRunOptions,
  nameModel,
  prepareRun,
  type RequestKind,
} from './completion-run.ts'

export type EmbeddingExchange = CompletionExchange<EmbeddingRequest>

const EMBEDDINGS: RequestKind<EmbeddingRequest> = {
  requireAnswerable(_request, { id, backend }) {
    if (backend.embed !== undefined) return
    const message = `The model \`${id}\` makes no embeddings; name one that is relayed to an engine.`
    throw new ApiError('unsupported_value', { param: 'model', message })
  },
  start({ backend }, call, options) {
    const embed = async () => {
      const { adapterPath: _, ...asked } = call
      const answer = await backend.embed?.(asked, options)
      if (answer === undefined) throw new ApiError('internal_error')
      return answer
    }
    return {
      async *start() {
        yield await embed()
      },
      startWhole: embed,
    }
  },
  nameBackend: (_request, model, upstream) => nameModel(model, upstream),
}

/**
 * The JSON text of the answer.
 *
 * @throws ApiError rate_limit_exceeded, unsupported_value for a model without embeddings; what broke the answer
 */
export function embed(exchange: EmbeddingExchange, options: CompletionRunOptions): Promise<string> {
  EMBEDDINGS.requireAnswerable(exchange.call.request, exchange.model)
  const { turns, run } = prepareRun(exchange, options, EMBEDDINGS)
  const { requestId } = exchange.call
  // The answer passes as it came: nothing of the envelope is told.
  const envelope = { id: requestId, created: 0, model: '', role: '', choiceCount: 0 }
  return answerWhole(turns, run, envelope)
}
