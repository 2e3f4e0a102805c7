/** The OpenAPI 3.1 document out of the routes' Zod schemas, and its rendered page at /docs. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fp from 'fastify-plugin'
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod'
import type { App } from './app-type.ts'

export interface OpenapiOptions {
  readonly version: string
}

const zodToJsonConfig = { unrepresentable: 'any' as const }

/** Serves `/openapi.json` and `/docs`; both are public and need no network. */
export const openapi = fp<OpenapiOptions>(
  async (app: App, { version }) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Weft',
          version,
          description:
            'Traced LLM calls, statistics, feedback, chat completions, training preview. ' +
            'The routes under Basic authentication are served below `/traces` too, for tracing SDKs: ' +
            'there the `svc_` names are spelt `wb_`, and names that are not known are dropped.',
          license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        components: {
          securitySchemes: {
            basic: {
              type: 'http',
              scheme: 'basic',
              description: 'The password is the API key, the user name is free.',
            },
            bearer: { type: 'http', scheme: 'bearer', description: 'The token is the API key.' },
          },
        },
      },
      transform: createJsonSchemaTransform({ zodToJsonConfig }),
      transformObject: createJsonSchemaTransformObject({ zodToJsonConfig }),
    })
    await app.register(swaggerUi, { routePrefix: '/docs' })
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  },
  { name: 'openapi' },
)
