/** OTLP on the wire, as far as the document describes it: the messages are OpenTelemetry's. Spec: none, an addition. */
import { z } from 'zod'
import { FreeObject } from '../primitives.ts'

export const OtlpTrace = z
  .looseObject({
    resourceSpans: z
      .array(FreeObject)
      .optional()
      .describe('Spans by scope and resource: ResourceSpans of opentelemetry-proto.'),
  })
  .meta({
    id: 'OtlpTrace',
    description: 'ExportTraceServiceRequest of opentelemetry-proto 1, in JSON or protobuf.',
  })

export const OtlpTraceResponse = z
  .object({
    partialSuccess: z
      .object({
        rejectedSpans: z
          .string()
          .describe('Number of spans that were not stored, as a decimal string.'),
        errorMessage: z.string().describe('Why the first of them was not stored.'),
      })
      .optional()
      .describe('Absent when every span was stored.'),
  })
  .meta({
    id: 'OtlpTraceResponse',
    description: 'ExportTraceServiceResponse of opentelemetry-proto 1.',
  })

export const OtlpLogs = z
  .looseObject({
    resourceLogs: z
      .array(FreeObject)
      .optional()
      .describe('Records by scope and resource: ResourceLogs of opentelemetry-proto.'),
  })
  .meta({
    id: 'OtlpLogs',
    description: 'ExportLogsServiceRequest of opentelemetry-proto 1, in JSON or protobuf.',
  })

export const OtlpLogsResponse = z
  .object({
    partialSuccess: z
      .object({
        rejectedLogRecords: z
          .string()
          .describe('Number of records that were not stored, as a decimal string.'),
        errorMessage: z.string().describe('Why the first of them was not stored.'),
      })
      .optional()
      .describe('Absent when every record was stored or discarded.'),
  })
  .meta({
    id: 'OtlpLogsResponse',
    description: 'ExportLogsServiceResponse of opentelemetry-proto 1.',
  })

export const RpcStatus = z
  .object({
    code: z.int().describe('Status code of gRPC.'),
    message: z.string().describe('Message for people.'),
  })
  .meta({ id: 'RpcStatus', description: 'google.rpc.Status, in the encoding of the request.' })
