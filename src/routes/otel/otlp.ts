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
import type { RecordSpans } from '../../otel/record-spans.ts'
import { OtlpTrace, OtlpTraceResponse, RpcStatus } from '../../schemas/otel/otlp.ts'

interface OtlpRoutesOptions {
  readonly recordSpans: RecordSpans
  readonly otlpBodyBytesMax: number
}

/**
 * The paths that exporters use: OTLP's own, those of the Weave service in both forms, and that of Langfuse's SDKs.
 */
const BASES = [
  '',
  '/otel',
  '/agents/otel',
  '/traces/otel',
  '/traces/agents/otel',
  '/api/public/otel',
] as const

const config = { renderError: renderRpcStatus }
const tags = ['otel']

export async function otlpRoutes(app: App, options: OtlpRoutesOptions): Promise<void> {
  useOtlpBodies(app, options.otlpBodyBytesMax)
  for (const base of BASES) {
    addTraces(app, `${base}/v1/traces`, options)
    addUnstored(app, `${base}/v1/metrics`)
    addUnstored(app, `${base}/v1/logs`)
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
    const caller = requireScope(request.principal, 'traces:write')
    const notStored = await options.recordSpans({
      encoding: encodingOf(request),
      bytes: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
      headers: request.headers,
      caller,
    })
    return respondToExport(request, reply, notStored)
  })
}

/**
 * Accepts and discards metrics and logs, and reports plain success: exporters print a partial success, and programs for
 * terminals print it there.
 */
function addUnstored(app: App, path: string): void {
  const schema = { tags, summary: 'Accepted and discarded: Weft stores traces only.', hide: true }
  const handler = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    requireScope(request.principal, 'traces:write')
    return respondToExport(request, reply, null)
  }
  app.post(path, { config, schema }, handler)
}
