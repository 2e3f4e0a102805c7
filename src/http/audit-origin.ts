/** Who makes a request, and from where, for the audit list. */
import type { FastifyRequest } from 'fastify'
import type { AuditOrigin } from '../domain/access/audit.ts'
import type { Principal } from '../domain/access/permissions.ts'

/** Limit: characters of a header that anybody can send. */
const FORWARDED_CHARS_MAX = 256

type Headed = Pick<FastifyRequest, 'ip' | 'headers'>

/** @param caller - as returned by requireScope or requireAccess */
export function originOf(
  request: Headed,
  { svc_user_id, keyId }: Pick<Principal, 'svc_user_id' | 'keyId'>,
): AuditOrigin {
  return { svc_user_id, key_id: keyId, ...fromOf(request) }
}

export function fromOf({ ip, headers }: Headed): Pick<AuditOrigin, 'address' | 'forwarded_for'> {
  const forwarded = headers['x-forwarded-for']
  return {
    // Absent once the client has disconnected.
    address: ip ?? null,
    forwarded_for: forwarded === undefined ? null : String(forwarded).slice(0, FORWARDED_CHARS_MAX),
  }
}
