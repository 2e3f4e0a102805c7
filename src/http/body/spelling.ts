/**
 * The edge of a trace scope: strict with neutral names, or tolerant with the vendor's. Handlers see
 * neutral names only; they meet the difference as `app.spelling`.
 */
import type { FastifyRequest } from 'fastify'
import { ResponseSerializationError } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { App } from '../app-type.ts'
import { type ParseResult, parseStrictly, parseTolerantly } from './tolerant-parse.ts'
import { toNeutralNames, toVendorNames, toVendorPath } from './vendor-names.ts'

/** How a scope writes names, for what the framework's own validation and serialization do not see. */
interface Spelling {
  /** False where clients send more and other things than the spec's tables allow. */
  readonly isStrict: boolean
  /** Parses one item of a batch, already in neutral names; the item must belong to the caller. */
  parse<T>(schema: z.ZodType<T>, item: unknown): ParseResult<T>
  /** An object that is written out past the serializer, as a line of a stream. */
  spellOut<T>(value: T): T
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Of trace scopes only. */
    spelling: Spelling
  }
}

/** Neutral names; what a schema does not know is refused. */
export function useNeutralNames(app: App): void {
  app.decorate('spelling', { isStrict: true, parse: parseStrictly, spellOut: (value) => value })
}

/**
 * Vendor names on the way in and out; what a schema does not know is dropped. The routes of the scope
 * are left out of the OpenAPI document, which describes them in neutral names.
 */
export function useVendorNames(app: App): void {
  app.decorate('spelling', {
    isStrict: false,
    parse: (schema, item) => parseTolerantly(schema, item, toVendorPath),
    spellOut: toVendorNames,
  })
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true }
  })
  app.addHook('preValidation', async (request: FastifyRequest) => {
    // Other bodies than JSON, as files, are read as bytes and streams.
    if (isPlain(request.body)) request.body = toNeutralNames(request.body)
  })
  app.setValidatorCompiler<z.ZodType>(
    ({ schema }) =>
      (data) =>
        parseTolerantly(schema, data, toVendorPath),
  )
  app.setSerializerCompiler<z.ZodType>(({ schema, method, url }) => (data) => {
    const result = z.safeEncode(schema, data)
    if (result.error) throw new ResponseSerializationError(method, url, { cause: result.error })
    return JSON.stringify(toVendorNames(result.data))
  })
}

function isPlain(body: unknown): boolean {
  return body instanceof Object && Object.getPrototypeOf(body) === Object.prototype
}
