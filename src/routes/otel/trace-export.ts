/** Exports a trace as OTLP in JSON. An addition to the spec. */
import { z } from 'zod'
import { requireAccess } from '../../domain/access/permissions.ts'
import type { CallTexts, StoredCall } from '../../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { parseCall } from '../../domain/calls/evaluations/evaluation-calls.ts'
import { exportTrace } from '../../domain/otel/span-export.ts'
import { onlyProjectOf, projectOfHeaders } from '../../domain/projects/named-project.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { OtlpTrace } from '../../schemas/otel/otlp.ts'
import { ClientId, type JsonObject, ProjectId } from '../../schemas/primitives.ts'
import type { CallsQueryStore } from '../../store/api/calls/calls.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

interface TraceExportOptions extends Pick<Stores, 'audit' | 'callsQuery'> {
  readonly refScheme: string
}

/** Limits of one exported trace, which is held in memory: calls, and characters of their data. */
const CALLS_MAX = 10_000
const CHARS_MAX = 64 * 1024 * 1024

const TraceParams = z.strictObject({
  trace_id: ClientId.describe('Id of the trace, in hex or as in its calls.'),
})
const TraceQuery = z.strictObject({
  project_id: ProjectId.optional().describe(
    'Project. Default: that of a header project_id or Compat-Project, else the only one of the key.',
  ),
})
export async function traceExportRoutes(app: App, options: TraceExportOptions): Promise<void> {
  app.get(
    '/otel/v1/traces/:trace_id',
    {
      schema: {
        tags: ['otel'],
        operationId: 'exportTrace',
        summary: 'Export a trace as OTLP in JSON (addition to the spec).',
        params: TraceParams,
        querystring: TraceQuery,
        response: { 200: OtlpTrace },
      },
    },
    async (request, reply) => {
      const named = request.query.project_id ?? projectOfHeaders(request.headers)
      const project_id = named ?? (request.principal && onlyProjectOf(request.principal))
      if (!project_id) throw projectMissing()
      const { projects } = requireAccess(request.principal, 'traces:read', project_id)
      const { refScheme } = options
      const selection = resolveCallsSelection(
        {
          project_id,
          filter: { trace_ids: [request.params.trace_id] },
          limit: CALLS_MAX + 1,
        },
        { refScheme, projects },
      )
      const pages = options.callsQuery.pages(
        selection,
        resolveCallsShape({ project_id }),
        openReadCaller(request, reply, project_id),
      )
      const calls = await readCalls(pages)
      if (calls.length === 0) throw new ApiError('trace_not_found')
      const subject_id = request.params.trace_id
      const act = { action: 'trace.export', project_id, subject_id } as const
      await recordBefore(options.audit, request, { ...act, after: { calls: calls.length } })
      return exportTrace(calls) as { resourceSpans: JsonObject[] }
    },
  )
}

/** Returns the error for an export without a project; its default message lists the ways to name one. */
function projectMissing(): ApiError {
  return new ApiError('otlp_project_missing', {
    param: 'project_id',
    message:
      'No project is named. Add ?project_id=<entity>/<project>, or use a key of one project.',
  })
}

/** @throws ApiError validation_failed above these limits */
async function readCalls(pages: ReturnType<CallsQueryStore['pages']>): Promise<StoredCall[]> {
  const calls: StoredCall[] = []
  let chars = 0
  for await (const page of pages) {
    for (const { call } of page) {
      if (calls.length === CALLS_MAX) throw tooLarge(`${CALLS_MAX} calls`)
      chars += charsOf(call)
      if (chars > CHARS_MAX) throw tooLarge(`${CHARS_MAX} characters`)
      calls.push(parseCall(call))
    }
  }
  return calls
}

function tooLarge(limit: string): ApiError {
  const message = `The trace has more than ${limit}; read it with /calls/stream_query.`
  return new ApiError('validation_failed', { param: 'trace_id', message })
}

function charsOf(call: CallTexts): number {
  const { attributes_json, inputs_json, otel_dump_json, output_json, summary_json } = call
  const texts = [attributes_json, inputs_json, otel_dump_json, output_json, summary_json]
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}
