/** The audit list over HTTP. Additions to the spec. */
import type { FastifyRequest } from 'fastify'
import {
  type AuditAction,
  type AuditChange,
  type AuditEntry,
  renderAuditEntry,
} from '../../domain/access/audit.ts'
import { ownsProjects } from '../../domain/access/key-view.ts'
import { type Principal, requireScope } from '../../domain/access/permissions.ts'
import { resolvePageQuery, rowsToRead, toPage } from '../../domain/query/page.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { fileResponse } from '../../http/document/responses.ts'
import { JSON_LINES, sendLines } from '../../http/stream/json-lines.ts'
import { AuditExportQuery, AuditListResponse, AuditQuery } from '../../schemas/access/audit.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import { type AuditListing, listAuditParts } from '../../store/api/access/audit.ts'
import type { Stores } from '../../store/api/stores.ts'

const tags = ['server']
const url = '/v1/audit'

type AuditRoutesOptions = Pick<Stores, 'audit'>

/**
 * Spec: §5 (permission rules not shown). Choice: an admin of some projects reads the entries about these alone.
 */
export async function auditRoutes(app: App, { audit }: AuditRoutesOptions): Promise<void> {
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listAudit',
        summary: 'List who changed, deleted or exported what (addition to the spec).',
        querystring: AuditQuery,
        response: { 200: AuditListResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const { order = 'desc', ...query } = request.query
      const { after: id, limit } = resolvePageQuery(query)
      const after = id === null ? null : await audit.findEntry(id)
      if (id !== null && (after === null || !ownsProjects(caller, after.projects))) {
        throw new ApiError('audit_entry_not_found', { param: 'after' })
      }
      const found: AuditEntry[] = []
      const parts = listAuditParts(audit, { ...toListing(query), order, after })
      for await (const entries of parts) {
        found.push(...ownOf(entries, caller).slice(0, rowsToRead(limit) - found.length))
        if (found.length === rowsToRead(limit)) break
      }
      return toPage(found.map(renderAuditEntry), limit)
    },
  )

  app.get(
    `${url}/export`,
    {
      // A HEAD request would be recorded as an export.
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'exportAudit',
        summary: 'Export the audit list as JSON lines, the oldest first (addition to the spec).',
        querystring: AuditExportQuery,
        response: {
          200: fileResponse('The entries, one a line, as /v1/audit lists them.', [JSON_LINES]),
        },
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'admin')
      const { query } = request
      const { projects } = caller
      const change = { action: 'audit.export', subject_id: 'audit', projects } as const
      await audit.record({ ...change, before: null, after: query }, originOf(request, caller))
      const listing = { ...toListing(query), order: 'asc', after: null } as const
      reply
        .header('content-disposition', 'attachment; filename="audit.jsonl"')
        .header('cache-control', 'no-store')
      return sendLines(reply, toLines(listAuditParts(audit, listing), caller))
    },
  )
}

/**
 * Records what is about to be deleted or exported in a project: also what then fails, so that nothing happens without an
 * entry. The request is authorized.
 */
export async function recordBefore(
  audit: Pick<Stores['audit'], 'record'>,
  request: FastifyRequest,
  act: BegunAct,
): Promise<void> {
  if (request.principal === null) throw new ApiError('missing_api_key')
  const { action, project_id, subject_id = project_id, before = null, after = null } = act
  const change = { action, subject_id, projects: [project_id], before, after }
  await audit.record(change, originOf(request, request.principal))
}

interface BegunAct extends Partial<Pick<AuditChange, 'before' | 'after'>> {
  readonly action: AuditAction
  readonly project_id: string
  /** Default: the project. */
  readonly subject_id?: string
}

function toListing({ from, until, actor, action }: AuditExportQuery) {
  return {
    from_us: from === undefined ? -Number.MAX_SAFE_INTEGER : timestampUs(from),
    until_us: until === undefined ? Number.MAX_SAFE_INTEGER : timestampUs(until),
    svc_user_id: actor ?? null,
    action: action ?? null,
  } satisfies Partial<AuditListing>
}

function ownOf(entries: readonly AuditEntry[], caller: Principal): AuditEntry[] {
  return entries.filter(({ projects }) => ownsProjects(caller, projects))
}

async function* toLines(
  parts: AsyncIterable<readonly AuditEntry[]>,
  caller: Principal,
): AsyncGenerator<string> {
  for await (const entries of parts) {
    const own = ownOf(entries, caller).map((entry) => JSON.stringify(renderAuditEntry(entry)))
    if (own.length > 0) yield `${own.join('\n')}\n`
  }
}
