/** Endpoints of responses that the OpenAI SDKs can call and Weft does not have, each with the reason. */
import type { MissingFeature } from '../access/missing-endpoints.ts'

/** An addition to the spec, which has none of these addresses. */
export const MISSING_RESPONSE_FEATURES: readonly MissingFeature[] = [
  {
    feature: 'counts of the input tokens of responses',
    reason: 'A response has them in its usage; /v1/tokenize counts the tokens of texts and chats.',
    endpoints: ['POST /v1/responses/input_tokens'],
  },
  {
    feature: 'compaction of responses',
    reason: 'Send a shorter input instead, without previous_response_id.',
    endpoints: ['POST /v1/responses/compact'],
  },
]
