/** OTLP on the wire, as far as the document tells it: the messages are OpenTelemetry's. Spec: none, an addition. */
import { z } from 'zod'
import { FreeObject } from '../primitives.ts'

export const OtlpTrace = z
  .looseObject({
    resourceSpans: z
      .array(FreeObject)
      .optional()
      .describe('Spans below their scopes and resources, as ResourceSpans of opentelemetry-proto.'),
  })
  .meta({
    id: 'OtlpTrace',
    description: 'ExportTraceServiceRequest of opentelemetry-proto 1, in JSON or protobuf.',
  })

export const OtlpTraceResponse = z
  .object({
    partialSuccess: z
      .object({
        rejectedSpans: z.string().describe('How many spans were not stored, in digits.'),
        errorMessage: z.string().describe('Why the first of them was not.'),
      })
      .optional()
      .describe('Left out where every span was stored.'),
  })
  .meta({
    id: 'OtlpTraceResponse',
    description: 'ExportTraceServiceResponse of opentelemetry-proto 1.',
  })

export const RpcStatus = z
  .object({
    code: z.int().describe('Code of gRPC.'),
    message: z.string().describe('What is wrong.'),
  })
  .meta({ id: 'RpcStatus', description: 'google.rpc.Status, in the encoding of the request.' })
