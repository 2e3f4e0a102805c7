/** Preparations of bodies for routes that record calls: checks, permissions, defaults, texts. No I/O. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { z } from 'zod'
import { type Principal, requireAccess, requireScope } from '../../domain/access/permissions.ts'
import {
  type PreparedBatch,
  prepareBatch,
  resolveCompletedCall,
} from '../../domain/calls/call-batch.ts'
import {
  type CallEnd,
  type CallParts,
  type CallStart,
  resolveCallEnd,
  resolveCallStart,
} from '../../domain/calls/new-call.ts'
import { ApiError } from '../../errors.ts'
import { parseItem } from '../../http/body/parsing.ts'
import { newId } from '../../http/new-id.ts'
import { CallEndRequest, CallStartRequest } from '../../schemas/calls/call.ts'
import {
  CallBatchItem,
  CallsCompleteRequest,
  CallUpsertBatchRequest,
  CompletedCallSchemaForInsert,
} from '../../schemas/calls/call-batch.ts'
import type { Preparation } from '../bodies/preparation.ts'
import { projectOf } from '../projects/project-path.ts'

export const prepareStart: Preparation<z.infer<typeof CallStartRequest>, CallStart> = {
  schema: CallStartRequest,
  isLossless: true,
  prepare({ start }, { principal, params, refScheme }) {
    const caller = requireCaller(start.project_id, { principal, params }, 'start.project_id')
    return resolveCallStart(start, startDefaults(caller), refScheme)
  },
}

export const prepareEnd: Preparation<z.infer<typeof CallEndRequest>, CallEnd> = {
  schema: CallEndRequest,
  isLossless: true,
  prepare({ end }, { principal, params, refScheme }) {
    requireCaller(end.project_id, { principal, params }, 'end.project_id')
    return resolveCallEnd(end, refScheme)
  },
}

export const prepareUpserts: Preparation<z.infer<typeof CallUpsertBatchRequest>, PreparedBatch> = {
  schema: CallUpsertBatchRequest,
  isLossless: true,
  prepare({ batch }, { principal, refScheme, isStrict }) {
    const caller = requireScope(principal, 'traces:write')
    return prepareBatch(batch, nextTurn, (json): CallParts => {
      const item = parseItem(CallBatchItem, json, isStrict)
      if (item.mode === 'end') {
        requireAccess(caller, 'traces:write', item.req.end.project_id, 'req.end.project_id')
        return { start: null, end: resolveCallEnd(item.req.end, refScheme) }
      }
      requireAccess(caller, 'traces:write', item.req.start.project_id, 'req.start.project_id')
      const start = resolveCallStart(item.req.start, startDefaults(caller), refScheme)
      return { start, end: null }
    })
  },
}

export const prepareCompleted: Preparation<z.infer<typeof CallsCompleteRequest>, PreparedBatch> = {
  schema: CallsCompleteRequest,
  isLossless: true,
  prepare({ batch }, { principal, params, refScheme, isStrict }) {
    const project_id = projectOf(params as { entity: string; project: string })
    const caller = requireAccess(principal, 'traces:write', project_id)
    return prepareBatch(batch, nextTurn, (json) => {
      const call = parseItem(CompletedCallSchemaForInsert, json, isStrict)
      requireSameProject(call.project_id, project_id, 'project_id')
      return resolveCompletedCall(call, startDefaults(caller), refScheme)
    })
  },
}

interface Sender {
  readonly principal: Principal | null
  /** Parameters of the address, which may name the project, too. */
  readonly params: object
}

function requireCaller(sent: string, { principal, params }: Sender, param: string): Principal {
  if (!('entity' in params)) return requireAccess(principal, 'traces:write', sent, param)
  const project_id = projectOf(params as { entity: string; project: string })
  const caller = requireAccess(principal, 'traces:write', project_id)
  requireSameProject(sent, project_id, param)
  return caller
}

/** What a call has whose client names neither it nor its trace. */
function startDefaults({ svc_user_id, svc_username }: Principal) {
  return { id: newId(), trace_id: newId(), svc_user_id, svc_username }
}

/** @throws ApiError validation_failed when a body names another project than the address */
function requireSameProject(sent: string, project_id: string, param: string): void {
  if (sent === project_id) return
  throw new ApiError('validation_failed', {
    param,
    message: `${param} must equal that of the address`,
  })
}
