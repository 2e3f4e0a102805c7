/** How every request to a model begins: who asks, and how the answer follows its client. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireScope } from '../../domain/access/permissions.ts'
import { requireProjectHeader } from '../../http/project-header.ts'
import { startClientDeadline } from '../../http/stream/client-deadline.ts'
import type { CompletionExchange } from '../../inference/chat/completion-run.ts'
import type { ModelCaller } from '../../inference/models/model-choice.ts'

/** @throws ApiError missing_api_key, scope_missing, invalid_header, project_forbidden */
export function toModelCaller(request: FastifyRequest): ModelCaller {
  const caller = requireScope(request.principal, 'inference')
  return { caller, projectId: requireProjectHeader(request) }
}

/** Begins to wait for an answer: opens the request's abort controller and starts the client's own timeout. */
export function openResponse(request: FastifyRequest, reply: FastifyReply) {
  const abort = request.server.openAbort(reply)
  const deadline = startClientDeadline(request.headers, abort)
  const setHeaders: CompletionExchange['setHeaders'] = (headers) => {
    if (reply.sent) return
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) reply.removeHeader(name)
      else reply.header(name, value)
    }
  }
  return { abort, deadline, client: { signal: abort.signal, setHeaders } }
}
