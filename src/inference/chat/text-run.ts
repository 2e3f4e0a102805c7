/** Asks a model to go on with texts, on the way of all completions. */
import { ApiError } from '../../errors.ts'
import type { TextCompletionRequest } from '../../schemas/chat/text-completion.ts'
import type { Delta } from '../backend.ts'
import type { AnswerEnvelope } from './answer-envelope.ts'
import { answerWhole, streamAnswer } from './answer-run.ts'
import {
  type CompletionExchange,
  type CompletionRunOptions,
  nameModel,
  prepareRun,
  type RequestKind,
} from './completion-run.ts'

export type TextExchange = CompletionExchange<TextCompletionRequest>

const TEXTS: RequestKind<TextCompletionRequest> = {
  requireAnswerable({ suffix }, { id, backend }) {
    if (suffix) {
      const message = 'suffix is not supported: nothing is put in between.'
      throw new ApiError('unsupported_parameter', { param: 'suffix', message })
    }
    if (backend.completeText !== undefined) return
    const message = `The model \`${id}\` takes no plain texts; ask it by chat, or name one that is relayed to an engine.`
    throw new ApiError('unsupported_value', { param: 'model', message })
  },
  start({ backend }, call, options) {
    const { adapterPath: _, ...asked } = call
    return {
      start() {
        if (backend.completeText === undefined) throw new ApiError('internal_error')
        return backend.completeText(asked, options)
      },
    }
  },
  nameBackend: (_request, model, upstream) => nameModel(model, upstream),
}

/** @throws ApiError unsupported_parameter, unsupported_value, rate_limit_exceeded */
export function completeText(
  exchange: TextExchange,
  options: CompletionRunOptions,
  envelope: AnswerEnvelope,
): Promise<string> {
  const { turns, run } = prepareText(exchange, options)
  return answerWhole(turns, run, envelope)
}

/** The deltas of a stream. @throws what completeText throws */
export function streamText(
  exchange: TextExchange,
  options: CompletionRunOptions,
): AsyncIterable<Delta> {
  const { turns, run } = prepareText(exchange, options)
  return streamAnswer(turns, run)
}

function prepareText(exchange: TextExchange, options: CompletionRunOptions) {
  TEXTS.requireAnswerable(exchange.call.request, exchange.model)
  return prepareRun(exchange, options, TEXTS)
}
