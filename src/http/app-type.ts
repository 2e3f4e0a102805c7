/** The Fastify instance that all plugins and routes share: bodies are typed by their Zod schemas. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  FastifyRequest as Request,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Principal } from '../domain/access/permissions.ts'
import type { ApiError } from '../errors.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/**
 * What a handler gets of a JSON body:
 *
 * - `query`: the value. The body has ids, filters or settings, and routes of the trace API limit it accordingly
 * - `value`: the value; the body has content, and may be as long as the body limit
 * - `text`: the value, and the text as it arrived
 * - `exact`: the same, and numbers that a double would round are JSON.rawJSON objects with all digits
 * - `bytes`: a Buffer, neither parsed nor validated (`routes/bodies` does both)
 */
type BodyMode = 'query' | 'value' | 'text' | 'exact' | 'bytes'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; null before authentication and on public routes. */
    principal: Principal | null
    /** Text of the JSON body as it arrived, on routes with the body mode `text` or `exact`; else null. */
    bodyText: string | null
    /** Why it is refused; null while it is not. */
    refusal: ApiError | null
  }
  interface FastifyContextConfig {
    /** What the handler gets of a JSON body. Default: `query`. */
    body?: BodyMode
    /** Limit: bytes of a body that the handler reads as a stream. Default: the body limit. */
    bodyBytesMax?: number
    /** Error for a body that breaks its schema. Default: 422 validation_failed. */
    invalidBody?: 'openai_400' | 'weft_422'
    /** How an error is written, where it is not the error body of all other routes. */
    renderError?: (
      error: ApiError,
      status: number,
      request: Request,
    ) => {
      readonly type: string
      readonly body: string | Buffer
      /** Default: that of the error. */
      readonly status?: number
    }
  }
}
