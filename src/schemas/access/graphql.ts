/** The few GraphQL requests of tracing SDKs on the wire. */
import { z } from 'zod'
import { FreeObject } from '../primitives.ts'

/** Limit: characters of a document; the known ones have some 300. */
const DOCUMENT_LENGTH_MAX = 16_384

export const GraphqlRequest = z
  .object({
    query: z.string().max(DOCUMENT_LENGTH_MAX).describe('The document, with one operation.'),
    variables: FreeObject.nullish().describe('Values of its variables.'),
    operationName: z.string().max(256).nullish().describe('Name of the operation; optional.'),
  })
  .meta({ id: 'GraphqlRequest', description: 'One of the operations that tracing SDKs use.' })
export type GraphqlRequest = z.infer<typeof GraphqlRequest>

export const GraphqlResponse = z
  .object({
    data: FreeObject.nullable().describe('The requested data; null after an error.'),
    errors: z
      .array(z.object({ message: z.string().describe('Message for people.') }))
      .optional()
      .describe('Absent on success.'),
  })
  .meta({ id: 'GraphqlResponse', description: 'Data or errors.' })
export type GraphqlResponse = z.infer<typeof GraphqlResponse>
