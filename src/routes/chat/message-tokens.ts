/** Counts the tokens of a chat with the tokenizer of a model that takes chats. */
import { parseObject } from '../../domain/json/json-values.ts'
import { ApiError } from '../../errors.ts'
import type {
  CompletionExchange,
  CompletionRunOptions,
} from '../../inference/chat/completion-run.ts'
import { serveWhole } from '../../inference/chat/service-run.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { TokenizeRequest } from '../../schemas/chat/services/tokens.ts'

const KIND = { service: 'tokenize', shape: TokenizeRequest.shape } as const

/**
 * Returns a count.
 *
 * @throws ApiError capability_missing for a model without a tokenizer; what serveWhole throws
 *
 * Spec: §4 (counts are an addition). Choice: nothing is estimated.
 */
export async function countChatTokens(
  chat: ChatCompletionRequest,
  exchange: Omit<CompletionExchange, 'call'>,
  requestId: string,
  run: CompletionRunOptions,
): Promise<number> {
  const { model, messages, tools, continue_final_message } = chat
  const request = { model, messages, tools, continue_final_message }
  const call = { request, body: JSON.stringify(request), requestId }
  const counted = parseObject(await serveWhole({ ...exchange, kind: KIND, call }, run))
  if (typeof counted?.count !== 'number') throw new ApiError('upstream_invalid_response')
  return counted.count
}
