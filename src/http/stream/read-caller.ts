/** The caller of a store read: key, project, and a signal that aborts when the client no longer waits. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The caller as seen by a store. */
export interface WaitingCaller {
  readonly keyId: string
  readonly project_id: string
  /** Aborted when the client disconnects, and when running requests must end. */
  readonly signal: AbortSignal
}

/** Returns the caller of a request. */
export function openReadCaller(
  { principal, server }: FastifyRequest,
  reply: FastifyReply,
  project_id: string,
): WaitingCaller {
  const { signal } = server.openAbort(reply)
  return { keyId: principal?.keyId ?? '', project_id, signal }
}
