/** The OpenAPI 3.1 document out of the routes' Zod schemas, and its rendered page at /docs. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fp from 'fastify-plugin'
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod'
import { ErrorAnswer } from '../../schemas/error-body.ts'
import type { App } from '../app-type.ts'
import { BODY_EXAMPLES } from './openapi-examples.ts'

export interface OpenapiOptions {
  readonly version: string
}

const zodToJsonConfig = { unrepresentable: 'any' as const }
const toJsonSchema = createJsonSchemaTransform({ zodToJsonConfig })

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
      transform(document) {
        const { schema, url } = toJsonSchema(document)
        const example = BODY_EXAMPLES[url]
        const body = schema.body as object | undefined
        return {
          url,
          schema: body && example ? { ...schema, body: { ...body, examples: [example] } } : schema,
        }
      },
      transformObject: createJsonSchemaTransformObject({ zodToJsonConfig }),
    })
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      theme: { title: 'Weft' },
      uiConfig: { layout: 'BaseLayout' },
    })
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  },
  { name: 'openapi' },
)

/** Tells the document which scheme the routes of a scope take, and how they fail. */
export function documentScope(app: App, scheme: 'basic' | 'bearer'): void {
  app.addHook('onRoute', (route) => {
    const response = route.schema?.response as object | undefined
    route.schema = {
      ...route.schema,
      security: [{ [scheme]: [] }],
      response: { ...response, '4xx': ErrorAnswer, '5xx': ErrorAnswer },
    }
  })
}
