/**
 * Naming of fields in a scope of trace routes: strict with neutral names, or tolerant with the vendor's names.
 * Handlers see only neutral names; the rest of the difference is in `app.naming`.
 */
import type { FastifyRequest } from 'fastify'
import { ResponseSerializationError } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ApiError } from '../../errors.ts'
import type { App } from '../app-type.ts'
import { hideRoutes } from '../document/openapi.ts'
import { parseItem, parseTolerantly } from './parsing.ts'
import { toNeutralNames, toVendorNames, toVendorText } from './vendor-names.ts'

/** Naming of a scope, for data that bypasses the framework's validation and serialization. */
interface Naming {
  /** Whether unknown fields are refused; false where clients send other fields than the spec's tables allow. */
  readonly isStrict: boolean
  /** Parses one item of a batch, already in neutral names, and may modify it. @throws ApiError validation_failed */
  parse<T>(schema: z.ZodType<T>, item: unknown): T
  /** Renames an object that bypasses the serializer, such as a line of a stream. */
  toWireNames<T>(value: T): T
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Decorates scopes of trace routes only. */
    naming: Naming
  }
}

/** Gives a scope neutral names; unknown fields are refused. */
export function useNeutralNames(app: App): void {
  app.decorate('naming', {
    isStrict: true,
    parse: (schema, item) => parseItem(schema, item, true),
    toWireNames: (value) => value,
  })
}

/**
 * Gives a scope the vendor's names in requests and responses; unknown fields are dropped. The OpenAPI document omits
 * the routes of the scope, because it describes them with neutral names.
 */
export function useVendorNames(app: App): void {
  app.decorate('naming', {
    isStrict: false,
    parse: (schema, item) => parseItem(schema, item, false),
    toWireNames: toVendorNames,
  })
  hideRoutes(app)
  app.addHook('preValidation', async (request: FastifyRequest) => {
    // Bodies other than JSON, such as files, are bytes or streams.
    if (isPlain(request.body)) request.body = toNeutralNames(request.body)
  })
  app.setValidatorCompiler<z.ZodType>(
    ({ schema }) =>
      (data) =>
        Buffer.isBuffer(data) ? { value: data } : parseTolerantly(schema, data, toVendorText),
  )
  // Thrown on, the error reaches the handler of the whole server.
  app.setErrorHandler((error) => {
    if (error instanceof ApiError) error.message = toVendorText(error.message)
    throw error
  })
  app.setSerializerCompiler<z.ZodType>(({ schema, method, url }) => (data) => {
    const result = z.safeEncode(schema, data)
    if (result.error) throw new ResponseSerializationError(method, url, { cause: result.error })
    return JSON.stringify(toVendorNames(result.data))
  })
}

function isPlain(body: unknown): boolean {
  return body instanceof Object && Object.getPrototypeOf(body) === Object.prototype
}
