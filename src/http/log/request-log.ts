/**
 * Request ids and one log line for each response, except for status 503, which is counted. Bodies, headers and query
 * strings are never logged.
 */
import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import type { App } from '../app-type.ts'
import { newId } from '../new-id.ts'

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/

/** Returns the client's `x-request-id` if it is well-formed, otherwise a new UUIDv7. */
export function chooseRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}

/** Adds `x-request-id` to responses, and logs route, status, duration, caller and why a request was refused. */
export const requestLog = fp(
  async (app: App) => {
    // All logged fields are listed below, so nothing needs to be redacted, which would cost more than the line.
    const lines = app.log.child({}, { redact: [] })
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      done()
    })
    app.onReplyEnd((request, { requestId, status, refusal, param, isCut, durationMs }) => {
      if (status === 503) return
      lines.info(
        {
          request_id: requestId,
          method: request.method,
          route: request.routeOptions.url ?? null,
          status,
          duration_ms: Math.round(durationMs * 1000) / 1000,
          svc_user_id: request.principal?.svc_user_id ?? null,
          ...(refusal === null ? {} : { code: refusal, param }),
        },
        isCut ? 'client disconnected before the end of the answer' : 'request answered',
      )
    })
  },
  { name: 'request-log', dependencies: ['response-end'] },
)
