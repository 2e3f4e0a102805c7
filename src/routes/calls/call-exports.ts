/**
 * Files of calls that a browser downloads directly to disk. A request with a key returns a single-use address that
 * needs no key, because a link cannot send headers. Additions to the spec.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Principal, requireAccess } from '../../domain/access/permissions.ts'
import { PERSON_KEY_PREFIX } from '../../domain/access/roles.ts'
import {
  fieldsOfCsv,
  renderCsvHead,
  renderCsvRows,
  resolveCsvColumns,
} from '../../domain/calls/call-csv.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { fileResponse } from '../../http/document/responses.ts'
import { JSON_LINES, sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { readPayer } from '../../inference/scorers/payer.ts'
import {
  CallExportParams,
  CallExportRequest,
  CallExportResponse,
} from '../../schemas/calls/call-export.ts'
import type { CallsQueryRequest } from '../../schemas/calls/calls-query.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { PersonSession } from '../../store/api/access/people.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { type CallLinesOptions, listCallLines } from './call-lines.ts'

/** Limit: bytes of a request, which is stored. */
const REQUEST_BYTES_MAX = 128 * 1024
/** Limit: lifetime of a ticket until its download begins. */
const TICKET_MS = 60_000
const TOKEN_BYTES = 32
const CSV = 'text/csv'

type ExportRequestOptions = Pick<Stores, 'exportTickets'> & Pick<Clock, 'nowUs'>

/** What a ticket allows. */
interface TicketContent {
  readonly principal: Principal
  /** By which a person is found again; null: the caller has a key. */
  readonly session: PersonSession | null
  readonly request: CallExportRequest
}

/** Must be registered in a scope with Basic authentication. */
export async function callExportRoutes(
  app: App,
  { exportTickets, nowUs }: ExportRequestOptions,
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
      const session = findSession(request, principal)
      const content: TicketContent = { principal, session, request: request.body }
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const ticket = {
        token_hash: hashOf(token),
        key_id: principal.keyId,
        ticket_json: JSON.stringify(content),
        expires_at_us: nowUs() + TICKET_MS * 1000,
      }
      await exportTickets.issueTicket(ticket, nowUs())
      reply.header('cache-control', 'no-store')
      return {
        path: `/calls/exports/${token}`,
        expires_at: renderTimestamp(ticket.expires_at_us),
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

interface CallDownloadOptions
  extends CallLinesOptions,
    Pick<Clock, 'nowUs'>,
    Pick<Stores, 'audit' | 'exportTickets' | 'keys' | 'people'> {}

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
      const ticket = await redeem(request.params.token, options)
      if (ticket === null) throw new ApiError('export_not_found')
      const { principal } = ticket
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

/** Returns what a token allows, with the caller as of now; null when a key or person was revoked meanwhile, too. */
async function redeem(token: string, options: CallDownloadOptions): Promise<TicketContent | null> {
  const { exportTickets, people, nowUs } = options
  const ticket = await exportTickets.redeemTicket(hashOf(token), nowUs())
  if (ticket === null) return null
  const content: TicketContent = JSON.parse(ticket.ticket_json)
  const { session } = content
  const principal =
    session === null ? await findHolder(content, options) : await people.findPrincipal(session)
  return principal && { ...content, principal }
}

/** Returns the holder of a key with the rights that the key has by now: those in other projects decide which refs are read. */
async function findHolder(
  { principal, request }: TicketContent,
  { keys, people, nowUs }: CallDownloadOptions,
): Promise<Principal | null> {
  const needs = { project_id: request.project_id, scopes: ['traces:read'] } as const
  const holder = await readPayer(principal, needs, { stores: { keys, people }, nowUs })
  if (typeof holder === 'string') return null
  const key = await keys.findKey(holder.keyId)
  return key === null ? holder : { ...holder, scopes: key.scopes, projects: key.projects }
}

function findSession(request: FastifyRequest, { keyId }: Principal): PersonSession | null {
  const session = request.session?.get()
  if (session === undefined || !keyId.startsWith(PERSON_KEY_PREFIX)) return null
  const { person_id, started_at_us } = session
  return { person_id, started_at_us }
}

/** Tokens are found by their hash: the time of a lookup reveals nothing about them. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
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
