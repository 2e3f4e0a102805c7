/** Compiles Zod schemas into Fastify's validators and serializers. */
import fp from 'fastify-plugin'
import { serializerCompiler } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import type { App } from '../app-type.ts'
import { parseStrictly } from './parsing.ts'

/** Installs Zod as the validator of requests and the serializer of responses. */
export const validation = fp(
  async (app: App) => {
    // The type provider's own validator joins paths with slashes, which is ambiguous for keys that contain one.
    app.setValidatorCompiler<z.ZodType>(
      ({ schema }) =>
        (data) =>
          // A large body is validated by the thread that parses it.
          Buffer.isBuffer(data) ? { value: data } : parseStrictly(schema, data),
    )
    app.setSerializerCompiler(serializerCompiler)
  },
  { name: 'validation' },
)
