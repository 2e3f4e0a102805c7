/**
 * Files of calls that a browser downloads directly to disk. A request with a key returns a single-use address that
 * needs no key, because a link cannot send headers. Additions to the spec.
 */
import type { FastifyReply } from 'fastify'
import { keyOfHeaders } from '../../domain/access/credentials.ts'
import { type Principal, requireAccess } from '../../domain/access/permissions.ts'
import {
  fieldsOfCsv,
  renderCsvHead,
  renderCsvRows,
  resolveCsvColumns,
} from '../../domain/calls/call-csv.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { fileResponse } from '../../http/document/responses.ts'
import { JSON_LINES, sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  CallExportParams,
  CallExportRequest,
  CallExportResponse,
} from '../../schemas/calls/call-export.ts'
import type { CallsQueryRequest } from '../../schemas/calls/calls-query.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { type CallLinesOptions, listCallLines } from './call-lines.ts'
import { type ExportTickets, TICKET_TTL_MS } from './export-tickets.ts'

/** Limit: bytes of a request, which waits in memory. */
const REQUEST_BYTES_MAX = 128 * 1024
const CSV = 'text/csv'

interface TicketOptions {
  readonly tickets: ExportTickets
}

interface ExportRequestOptions extends TicketOptions, Pick<Stores, 'people'> {
  readonly findPrincipal: (secret: string) => Promise<Principal | null>
}

/** Must be registered in a scope with Basic authentication. */
export async function callExportRoutes(
  app: App,
  { tickets, people, findPrincipal }: ExportRequestOptions,
): Promise<void> {
  app.post(
    '/calls/exports',
    {
      bodyLimit: REQUEST_BYTES_MAX,
      schema: {
        tags: ['calls'],
        operationId: 'exportCalls',
        summary: 'Create a single-use address for a download of calls (addition to the spec).',
        body: CallExportRequest,
        response: { 200: CallExportResponse },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      const principal = requireAccess(request.principal, 'traces:read', project_id)
      requireSound(request.body, principal)
      const key = keyOfHeaders(request.headers)
      const session = request.session?.get()
      const token = tickets.issue({
        keyId: principal.keyId,
        findPrincipal: async () => {
          if (key !== null) return findPrincipal(key)
          return session === undefined ? null : people.findPrincipal(session)
        },
        request: request.body,
      })
      reply.header('cache-control', 'no-store')
      return {
        path: `/calls/exports/${token}`,
        expires_at: new Date(Date.now() + TICKET_TTL_MS).toISOString(),
      }
    },
  )
}

/** Refuses what the download would refuse: the page shows this error to the user, but not one of the download. */
function requireSound(request: CallExportRequest, { projects }: Principal): void {
  const { list, columns } = toList(request)
  resolveCallsSelection(list, { refScheme: '', projects })
  if (request.format === 'csv' && columns.length === 0) {
    const message = 'columns: must have at least 1 entry in CSV.'
    throw new ApiError('validation_failed', { param: 'columns', message })
  }
  resolveCallsShape(list)
}

interface CallDownloadOptions extends CallLinesOptions, TicketOptions, Pick<Stores, 'audit'> {}

/** Must be registered in a scope without authentication: the token in the URL replaces the key that requested it. */
export async function callDownloadRoutes(app: App, options: CallDownloadOptions): Promise<void> {
  app.get(
    '/calls/exports/:token',
    {
      // A HEAD request would use up the ticket.
      exposeHeadRoute: false,
      schema: {
        tags: ['calls'],
        operationId: 'downloadCalls',
        summary: 'Download calls from a single-use address (addition to the spec).',
        security: [],
        params: CallExportParams,
        response: { 200: fileResponse('The calls, as a file to be saved.', [JSON_LINES, CSV]) },
      },
    },
    async (request, reply) => {
      const ticket = options.tickets.take(request.params.token)
      const principal = ticket && (await ticket.findPrincipal())
      if (!ticket || !principal) throw new ApiError('export_not_found')
      const { project_id } = ticket.request
      request.principal = requireAccess(principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      const { list, columns } = toList(ticket.request)
      const after = ticket.request
      await recordBefore(options.audit, request, { action: 'calls.export', project_id, after })
      const lines = await listCallLines(
        list,
        { principal, caller, toWireNames: (names) => names },
        options,
      )
      const isCsv = ticket.request.format === 'csv'
      nameFile(reply, `${project_id.replaceAll(/[^\w.-]+/g, '-')}-calls.${isCsv ? 'csv' : 'jsonl'}`)
      return isCsv ? sendLines(reply, toCsv(lines, columns), CSV) : sendLines(reply, lines)
    },
  )
}

/** Returns the list query of an export, and the columns of its table. */
function toList({ format, ...request }: CallExportRequest) {
  const columns = format === 'csv' ? resolveCsvColumns(request.columns ?? []) : []
  const isTable = columns.length > 0
  const list: CallsQueryRequest = isTable
    ? { ...request, columns: fieldsOfCsv(request.columns ?? []) }
    : request
  return { list, columns }
}

async function* toCsv(
  lines: AsyncIterable<string>,
  columns: ReturnType<typeof resolveCsvColumns>,
): AsyncGenerator<string> {
  yield renderCsvHead(columns)
  for await (const text of lines) yield renderCsvRows(text, columns)
}

function nameFile(reply: FastifyReply, name: string): void {
  reply
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('cache-control', 'no-store')
}
