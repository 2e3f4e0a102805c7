/**
 * How a scope of trace routes reads and writes names: strictly with neutral names, or tolerantly with the vendor's.
 * Handlers see only neutral names; the rest of the difference is in `app.naming`.
 */
import type { FastifyRequest } from 'fastify'
import { ResponseSerializationError } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ApiError } from '../../errors.ts'
import type { App } from '../app-type.ts'
import { parseItem, parseTolerantly } from './parsing.ts'
import { toNeutralNames, toVendorNames, toVendorText } from './vendor-names.ts'

/** How a scope spells names, for data that bypasses the framework's validation and serialization. */
interface Naming {
  /** False if clients send more and other fields than the spec's tables allow. */
  readonly isStrict: boolean
  /** Parses one item of a batch, already in neutral names, and may modify it. @throws ApiError validation_failed */
  parse<T>(schema: z.ZodType<T>, item: unknown): T
  /** Renames an object that bypasses the serializer, such as a line of a stream. */
  toWireNames<T>(value: T): T
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Of trace scopes only. */
    naming: Naming
  }
}

/** Neutral names; fields that a schema does not know are refused. */
export function useNeutralNames(app: App): void {
  app.decorate('naming', {
    isStrict: true,
    parse: (schema, item) => parseItem(schema, item, true),
    toWireNames: (value) => value,
  })
}

/**
 * Vendor names in requests and answers; fields that a schema does not know are dropped. The OpenAPI document omits
 * the routes of the scope, because it describes them with neutral names.
 */
export function useVendorNames(app: App): void {
  app.decorate('naming', {
    isStrict: false,
    parse: (schema, item) => parseItem(schema, item, false),
    toWireNames: toVendorNames,
  })
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true }
  })
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
