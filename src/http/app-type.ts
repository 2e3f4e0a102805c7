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

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; null before authentication and on public routes. */
    principal: Principal | null
    /** Text of the body as it arrived, on routes with `keepsBodyText`; else null. */
    bodyText: string | null
    /** Why it is refused; null while it is not. */
    refusal: ApiError | null
  }
  interface FastifyContextConfig {
    /** Whether the handler gets the text of the body. */
    keepsBodyText?: boolean
    /** Whether numbers that a double would round arrive as JSON.rawJSON objects, with all digits. */
    keepsLongNumbers?: boolean
    /** Whether a route of the trace API takes content, and thus bodies up to the body limit, not only a query. */
    takesContent?: boolean
    /** Leaves a large body as a Buffer, neither parsed nor validated. Default: it is parsed on the event loop. */
    largeBody?: 'bytes'
    /** Limit: bytes of a body that the handler reads as a stream. Default: the body limit. */
    bodyBytesMax?: number
    /** Error for a body that breaks its schema. Default: 422 validation_failed. */
    invalidBody?: 'openai_400' | 'weft_422'
    /** How an error is written, where it is not the error body of all other routes. */
    renderError?: (
      error: ApiError,
      status: number,
      request: Request,
    ) => { readonly type: string; readonly body: string | Buffer }
  }
}
