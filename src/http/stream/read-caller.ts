/** The caller of a store read: key, project, and a signal that aborts when the client no longer waits. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReadCaller } from '../../domain/access/read-caller.ts'

/** Returns the caller of a request; its signal aborts when the client disconnects, and when running requests must end. */
export function openReadCaller(
  { principal, server }: FastifyRequest,
  reply: FastifyReply,
  project_id: string,
): ReadCaller {
  const { signal } = server.openAbort(reply)
  return { keyId: principal?.keyId ?? '', project_id, signal }
}
