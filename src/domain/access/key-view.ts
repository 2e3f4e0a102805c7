/** Converts API keys from and to the format of the API. Pure. */
import { ApiError } from '../../errors.ts'
import type { KeyCreateRequest, KeyResponse } from '../../schemas/access/key.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { canUseProject, type Principal, type Scope } from './permissions.ts'

interface KeyRights {
  readonly svc_user_id: string
  readonly svc_username: string
  readonly scopes: readonly Scope[]
  readonly projects: readonly string[]
}

/** A key without its secret. */
export function renderKeyRow(
  key: KeyRights & {
    readonly id: string
    readonly created_at_us: number
    readonly revoked_at_us: number | null
  },
): KeyResponse {
  const { id, svc_user_id, svc_username, scopes, projects, created_at_us, revoked_at_us } = key
  return {
    id,
    svc_user_id,
    svc_username,
    scopes: [...scopes],
    projects: [...projects],
    created_at: renderTimestamp(created_at_us),
    revoked_at: renderTimestampOrNull(revoked_at_us),
  }
}

/** Whether all projects of a key are among those of the caller, who may then see and revoke it. */
export function ownsProjects(caller: Principal, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => ownsPattern(caller, pattern))
}

/**
 * The rights of a new key.
 *
 * @throws ApiError project_forbidden for projects that the caller may not use
 *
 * Spec: §5 (nothing of the spec makes keys). Choice: an admin of some projects makes keys of these alone.
 */
export function resolveNewKey(body: KeyCreateRequest, caller: Principal): KeyRights {
  if (!ownsProjects(caller, body.projects)) {
    throw new ApiError('project_forbidden', { param: 'projects' })
  }
  return {
    svc_user_id: body.svc_user_id,
    svc_username: body.svc_username ?? body.svc_user_id,
    scopes: [...new Set(body.scopes)],
    projects: [...new Set(body.projects)],
  }
}

/** A pattern of one entity is the caller's where the caller has it, too, or all; a project as every request has it. */
function ownsPattern(caller: Principal, pattern: string): boolean {
  if (caller.projects.includes('*') || caller.projects.includes(pattern)) return true
  return !pattern.includes('*') && canUseProject(caller, pattern)
}
