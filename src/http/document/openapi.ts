/** The OpenAPI 3.1 document, generated from the Zod schemas of the routes, and its page at /docs. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fp from 'fastify-plugin'
import {
  createJsonSchemaTransform,
  createJsonSchemaTransformObject,
} from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { ErrorResponse } from '../../schemas/error-body.ts'
import type { App } from '../app-type.ts'
import { tidyComponents } from './components.ts'
import { INFO, SECURITY_SCHEMES, SERVERS, TAGS } from './info.ts'
import { BODY_EXAMPLES } from './openapi-examples.ts'
import { describeResponses } from './responses.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Schemas that the document shows instead of those that the framework validates by. */
    shown?: {
      /** Replaces a path with a wildcard, which OpenAPI cannot express. */
      readonly url?: string
      readonly params?: z.ZodType
      /** Headers that the handler reads without validation by the framework. */
      readonly headers?: z.ZodType
      /** A body that is not JSON. */
      readonly body?: z.ZodType
      /** Responses that the framework does not serialize. */
      readonly response?: Readonly<Record<string, object>>
    }
  }
}

interface OpenapiOptions {
  readonly version: string
}

const zodToJsonConfig = { unrepresentable: 'any' as const }
const toJsonSchema = createJsonSchemaTransform({ zodToJsonConfig })
const addComponents = createJsonSchemaTransformObject({ zodToJsonConfig })

/** Serves `/openapi.json` and `/docs`; both are public and need no network. */
export const openapi = fp<OpenapiOptions>(
  async (app: App, { version }) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: { ...INFO, version },
        servers: SERVERS,
        tags: TAGS,
        components: { securitySchemes: SECURITY_SCHEMES },
      },
      transform(document) {
        if (document.schema?.hide) return { url: document.url, schema: { hide: true } }
        const { shown, ...own } = { ...document.schema }
        const { url = document.url, response: answers, ...parts } = shown ?? {}
        const failures = { '4xx': ErrorResponse, '5xx': ErrorResponse }
        const response = { ...failures, ...(own.response as object), ...answers }
        const { schema } = toJsonSchema({
          ...document,
          url,
          schema: { ...own, ...parts, response },
        })
        const example = BODY_EXAMPLES[url]
        const body = schema.body as object | undefined
        return {
          url,
          schema: body && example ? { ...schema, body: { ...body, examples: [example] } } : schema,
        }
      },
      transformObject: (document) => describeResponses(tidyComponents(addComponents(document))),
    })
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      theme: { title: 'Weft' },
      uiConfig: { layout: 'BaseLayout' },
      staticCSP: PAGE_POLICY,
    })
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  },
  { name: 'openapi' },
)

/** The content security policy of the page: users type a key into it, and it needs only its own scripts. */
const PAGE_POLICY: Record<string, string> = {
  'default-src': "'self'",
  'img-src': "'self' data:",
  'style-src': "'self' 'unsafe-inline'",
  'object-src': "'none'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
}

/** Leaves the routes of a scope out of the document. */
export function hideRoutes(app: App): void {
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true }
  })
}

type Scheme = 'basic' | 'bearer' | 'apiKey'

/**
 * Documents which credentials the routes of a scope accept, any one of several, and how they fail.
 *
 * @param failure - the body of errors
 */
export function documentScope(
  app: App,
  schemes: Scheme | readonly Scheme[],
  failure: z.ZodType = ErrorResponse,
): void {
  const security = [schemes].flat().map((scheme) => ({ [scheme]: [] }))
  app.addHook('onRoute', (route) => {
    const response = route.schema?.response as object | undefined
    route.schema = {
      ...route.schema,
      security,
      response: { ...response, '4xx': failure, '5xx': failure },
    }
  })
}
