/** Who waits for a read of a store: the key, the project, and whether anybody still does. */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What a store is told of the caller. */
export interface WaitingCaller {
  readonly keyId: string
  readonly project_id: string
  /** Aborted when the client leaves, and when running requests must end. */
  readonly signal: AbortSignal
}

/** Tells who waits for the answer of a request. */
export function openReadCaller(
  { principal, server }: FastifyRequest,
  reply: FastifyReply,
  project_id: string,
): WaitingCaller {
  const { signal } = server.openAbort(reply)
  return { keyId: principal?.keyId ?? '', project_id, signal }
}
