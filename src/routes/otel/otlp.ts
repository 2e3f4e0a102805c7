/** OpenTelemetry in: OTLP over HTTP. Additions to the spec. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireAccess, requireScope } from '../../domain/access/permissions.ts'
import { resolveFeedback } from '../../domain/feedback/new-feedback.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'
import { answerExport, encodingOf, renderRpcStatus, useOtlpBodies } from '../../http/otlp-scope.ts'
import type { ReadSpans } from '../../otel/read-request.ts'
import type { TraceReader } from '../../otel/span-reader.ts'
import type { CallStore } from '../../store/api/calls.ts'
import type { FeedbackStore } from '../../store/api/feedback.ts'
import { onlyProjectOf, projectOfHeaders } from './otlp-project.ts'

export interface OtlpRoutesOptions {
  readonly calls: CallStore
  readonly feedback: FeedbackStore
  readonly reader: TraceReader
  readonly refScheme: string
  readonly otlpBodyBytesMax: number
  readonly feedbackPayloadBytesMax: number
  readonly nowUs: () => number
}

/** Where exporters send to: OTLP's own path, and those of the Weave service in both spellings. */
const BASES = ['', '/otel', '/agents/otel', '/traces/otel', '/traces/agents/otel'] as const
/** Limit: calls that are written in one commit. */
const WRITE_PARTS_MAX = 2_000

const config = { renderError: renderRpcStatus }
const tags = ['otel']

export async function otlpRoutes(app: App, options: OtlpRoutesOptions): Promise<void> {
  useOtlpBodies(app, options.otlpBodyBytesMax)
  for (const base of BASES) {
    addTraces(app, `${base}/v1/traces`, options)
    addUnstored(app, `${base}/v1/metrics`, 'rejectedDataPoints')
    addUnstored(app, `${base}/v1/logs`, 'rejectedLogRecords')
  }
}

function addTraces(app: App, path: string, options: OtlpRoutesOptions): void {
  const schema = {
    tags,
    summary: 'Record OpenTelemetry spans as calls; the answer follows the durable commit.',
    hide: path !== '/v1/traces',
  }
  const bodyBytesMax = options.otlpBodyBytesMax
  app.post(path, { config: { ...config, bodyBytesMax }, schema }, async (request, reply) => {
    const caller = requireScope(request.principal, 'traces:write')
    const { svc_user_id, svc_username } = caller
    const spans = await options.reader.read({
      encoding: encodingOf(request),
      bytes: (request.body as Buffer | undefined) ?? Buffer.alloc(0),
      project_id: projectOfHeaders(request),
      default_project_id: onlyProjectOf(caller),
      ...{ refScheme: options.refScheme, svc_user_id, svc_username },
    })
    for (const project_id of spans.projects) requireAccess(caller, 'traces:write', project_id)
    const refused = await writeCalls(spans, options)
    await writeFeedback(spans, svc_user_id, options)
    const rejected = spans.rejected + refused.count
    if (rejected === 0) return answerExport(request, reply, null)
    const message = spans.message ?? refused.message ?? ''
    return answerExport(request, reply, { rejected, message, field: 'rejectedSpans' })
  })
}

/** Some commits one after the other, each durable; what a later one fails is sent again and found stored. */
async function writeCalls({ calls }: ReadSpans, options: OtlpRoutesOptions) {
  let count = 0
  let message: string | null = null
  for (let at = 0; at < calls.length; at += WRITE_PARTS_MAX) {
    const results = await options.calls.writeParts(calls.slice(at, at + WRITE_PARTS_MAX))
    for (const { error } of results) {
      if (!error) continue
      count += 1
      message ??= error.message
    }
  }
  return { count, message }
}

async function writeFeedback(
  { feedback }: ReadSpans,
  svc_user_id: string,
  options: OtlpRoutesOptions,
): Promise<void> {
  if (feedback.length === 0) return
  const created_at_us = options.nowUs()
  await options.feedback.createFeedbackBatch(
    feedback.map((item) =>
      resolveFeedback(
        item,
        { id: newId(), svc_user_id, created_at_us },
        options.feedbackPayloadBytesMax,
      ),
    ),
  )
}

/** Metrics and logs are taken and left: an exporter of all three would else report errors all day. */
function addUnstored(
  app: App,
  path: string,
  field: 'rejectedDataPoints' | 'rejectedLogRecords',
): void {
  const schema = { tags, summary: 'Taken and not stored: Weft keeps traces.', hide: true }
  const handler = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    requireScope(request.principal, 'traces:write')
    return answerExport(request, reply, {
      rejected: 0,
      message: 'Weft stores traces; metrics and logs are not kept.',
      field,
    })
  }
  app.post(path, { config, schema }, handler)
}
