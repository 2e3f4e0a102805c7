/** Receives OTLP over HTTP. Additions to the spec. */
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { requireScope } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { otlpResponses } from '../../http/document/responses.ts'
import {
  encodingOf,
  renderRpcStatus,
  respondToExport,
  useOtlpBodies,
} from '../../http/otlp-scope.ts'
import type { RecordExport } from '../../otel/record-spans.ts'
import {
  OtlpLogs,
  OtlpLogsResponse,
  OtlpTrace,
  OtlpTraceResponse,
  RpcStatus,
} from '../../schemas/otel/otlp.ts'

interface OtlpRoutesOptions {
  readonly recordSpans: RecordExport
  readonly recordLogs: RecordExport
  readonly otlpBodyBytesMax: number
}

/**
 * The paths that exporters use: OTLP's own, those of the Weave service in both forms, and those of Langfuse's and LangWatch's
 * SDKs.
 */
const BASES = [
  '',
  '/otel',
  '/agents/otel',
  '/traces/otel',
  '/traces/agents/otel',
  '/api/public/otel',
  '/api/otel',
] as const

const config = { renderError: renderRpcStatus }
const tags = ['otel']

export async function otlpRoutes(app: App, options: OtlpRoutesOptions): Promise<void> {
  useOtlpBodies(app, options.otlpBodyBytesMax)
  for (const base of BASES) {
    addTraces(app, `${base}/v1/traces`, options)
    addLogs(app, `${base}/v1/logs`, options)
    addMetrics(app, `${base}/v1/metrics`)
  }
}

function addTraces(app: App, path: string, options: OtlpRoutesOptions): void {
  const schema: FastifySchema = {
    tags,
    operationId: 'recordSpans',
    summary: 'Record OpenTelemetry spans as calls (addition to the spec).',
    description:
      'Answered after the durable commit. The project is that of a header project_id or Compat-Project, of the ' +
      'resource attributes wandb.entity and wandb.project, or the only one of the key.',
    consumes: ['application/json', 'application/x-protobuf'],
    shown: { body: OtlpTrace, response: otlpResponses(OtlpTraceResponse, RpcStatus) },
    hide: path !== '/v1/traces',
  }
  const bodyBytesMax = options.otlpBodyBytesMax
  app.post(path, { config: { ...config, bodyBytesMax }, schema }, async (request, reply) => {
    const notStored = await options.recordSpans(toExport(request))
    return respondToExport(request, reply, notStored)
  })
}

/** Records of logs that are messages of a span join it; others are discarded with plain success. */
function addLogs(app: App, path: string, options: OtlpRoutesOptions): void {
  const schema: FastifySchema = {
    tags,
    operationId: 'recordLogs',
    summary: 'Join messages that came as OpenTelemetry logs to their spans (addition to the spec).',
    description:
      'Events of the GenAI conventions with the ids of a span become messages of its call, whichever of them comes ' +
      'first. Other records are discarded. Answered after the durable commit.',
    consumes: ['application/json', 'application/x-protobuf'],
    shown: { body: OtlpLogs, response: otlpResponses(OtlpLogsResponse, RpcStatus) },
    hide: path !== '/v1/logs',
  }
  const bodyBytesMax = options.otlpBodyBytesMax
  app.post(path, { config: { ...config, bodyBytesMax }, schema }, async (request, reply) => {
    const notStored = await options.recordLogs(toExport(request))
    return respondToExport(request, reply, notStored, 'rejectedLogRecords')
  })
}

/** @throws ApiError missing_api_key, scope_missing */
function toExport(request: FastifyRequest) {
  return {
    encoding: encodingOf(request),
    bytes: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
    headers: request.headers,
    caller: requireScope(request.principal, 'traces:write'),
  }
}

/**
 * Accepts and discards metrics, and reports plain success: exporters print a partial success, and programs for
 * terminals print it there.
 */
function addMetrics(app: App, path: string): void {
  const schema = { tags, summary: 'Accepted and discarded: Weft stores no metrics.', hide: true }
  const handler = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    requireScope(request.principal, 'traces:write')
    return respondToExport(request, reply, null)
  }
  app.post(path, { config, schema }, handler)
}
