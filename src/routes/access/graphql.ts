/** The GraphQL operations that tracing SDKs send when they start. An addition to the spec. */
import { resolveGraphql } from '../../domain/access/graphql.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { GraphqlRequest, GraphqlResponse } from '../../schemas/access/graphql.ts'

export async function graphqlRoutes(app: App): Promise<void> {
  app.post(
    '/graphql',
    {
      schema: {
        tags: ['server'],
        operationId: 'runGraphql',
        summary: 'Three GraphQL operations that tracing SDKs use: project, upsertModel, viewer.',
        body: GraphqlRequest,
        response: { 200: GraphqlResponse },
      },
    },
    async ({ body, principal }) => {
      // Any key is allowed: access to projects is checked by the routes that use them.
      if (principal === null) throw new ApiError('missing_api_key')
      return resolveGraphql(body, principal)
    },
  )
}
