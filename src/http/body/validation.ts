/** Compiles Zod schemas into Fastify's validators and serializers. */
import fp from 'fastify-plugin'
import { serializerCompiler } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import type { App } from '../app-type.ts'
import { parseStrictly } from './parsing.ts'

/** Installs validation by Zod of requests and answers. */
export const validation = fp(
  async (app: App) => {
    // The type provider's own validator joins paths with slashes, which is ambiguous for keys that contain one.
    app.setValidatorCompiler<z.ZodType>(
      ({ schema }) =>
        (data) =>
          // The thread that parses a large body validates it, too.
          Buffer.isBuffer(data) ? { value: data } : parseStrictly(schema, data),
    )
    app.setSerializerCompiler(serializerCompiler)
  },
  { name: 'validation' },
)
