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
    /** Who asks; null before authentication and on public routes. */
    principal: Principal | null
    /** The body's text as it arrived, on routes whose config asks for it; else null. */
    bodyText: string | null
    /** Why it is refused; null while it is not. */
    refusal: ApiError | null
  }
  interface FastifyContextConfig {
    /** Keep the body's text for the handler. */
    keepsBodyText?: boolean
    /** Keep the digits of numbers that a double would round; they arrive as JSON.rawJSON objects. */
    keepsLongNumbers?: boolean
    /** Of the trace API: takes content and not only a question, and so bodies up to the body limit. */
    takesContent?: boolean
    /** Leaves a large body as a Buffer, neither parsed nor validated. Default: it is parsed on the event loop. */
    largeBody?: 'bytes'
    /** Bytes that a route takes of a body, where it reads the bytes itself. Default: the body limit. */
    bodyBytesMax?: number
    /** How a body that breaks its schema is answered. Default: 422 validation_failed. */
    invalidBody?: 'openai_400' | 'weft_422'
    /** How an error is written, where it is not the error body of all other routes. */
    renderError?: (
      error: ApiError,
      status: number,
      request: Request,
    ) => { readonly type: string; readonly body: string | Buffer }
  }
}
