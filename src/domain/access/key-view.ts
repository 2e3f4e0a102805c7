/** Converts API keys from and to the format of the API. Pure. */
import { ApiError } from '../../errors.ts'
import type { KeyCreateRequest, KeyResponse, KeyUpdateRequest } from '../../schemas/access/key.ts'
import { renderTimestamp, renderTimestampOrNull, timestampUs } from '../../schemas/timestamp.ts'
import { canUseProject, type KeyLimitSettings, type Principal, type Scope } from './permissions.ts'

interface KeyRights extends KeyLimitSettings {
  readonly svc_username: string
  readonly scopes: readonly Scope[]
  readonly projects: readonly string[]
  readonly name: string | null
  readonly models: readonly string[] | null
  readonly expires_at_us: number | null
}

const DAY_US = 86_400_000_000

/** A key without its secret. */
export function renderKeyRow(
  key: KeyRights & {
    readonly id: string
    readonly svc_user_id: string
    readonly created_at_us: number
    readonly revoked_at_us: number | null
    readonly last_used_day: number | null
    readonly previous_expires_at_us: number | null
  },
): KeyResponse {
  const { id, svc_user_id, svc_username, scopes, projects, created_at_us, revoked_at_us } = key
  const { last_used_day: day } = key
  return {
    id,
    svc_user_id,
    svc_username,
    scopes: [...scopes],
    projects: [...projects],
    name: key.name,
    models: key.models && [...key.models],
    expires_at: renderTimestampOrNull(key.expires_at_us),
    requests_per_minute: key.requests_per_minute,
    tokens_per_minute: key.tokens_per_minute,
    parallel_requests: key.parallel_requests,
    last_used_on: day === null ? null : renderTimestamp(day * DAY_US).slice(0, 10),
    previous_secret_expires_at: renderTimestampOrNull(key.previous_expires_at_us),
    created_at: renderTimestamp(created_at_us),
    revoked_at: renderTimestampOrNull(revoked_at_us),
  }
}

/** Whether all projects of a key are among those of the caller, who may then see and revoke it. */
export function ownsProjects(caller: Principal, patterns: readonly string[]): boolean {
  return patterns.every((pattern) => ownsPattern(caller, pattern))
}

/**
 * Resolves the rights of a new key.
 *
 * @throws ApiError project_forbidden for projects that the caller may not use
 *
 * Spec: §5 (nothing of the spec makes keys). Choice: an admin of some projects makes keys of these alone.
 */
export function resolveNewKey(
  { svc_user_id, ...body }: KeyCreateRequest,
  caller: Principal,
): KeyRights & { readonly svc_user_id: string } {
  const none: KeyRights = {
    svc_username: svc_user_id,
    scopes: [],
    projects: [],
    name: null,
    models: null,
    expires_at_us: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    parallel_requests: null,
  }
  return { svc_user_id, ...resolveKeyUpdate(body, { svc_user_id, ...none }, caller) }
}

/**
 * Resolves the rights of an edited key.
 *
 * @throws ApiError project_forbidden as resolveNewKey
 */
export function resolveKeyUpdate(
  body: KeyUpdateRequest,
  key: KeyRights & { readonly svc_user_id: string },
  caller: Principal,
): KeyRights {
  if (body.projects !== undefined && !ownsProjects(caller, body.projects)) {
    throw new ApiError('project_forbidden', { param: 'projects' })
  }
  const { expires_at } = body
  const username = body.svc_username === undefined ? key.svc_username : body.svc_username
  return {
    svc_username: username ?? key.svc_user_id,
    scopes: [...new Set(body.scopes ?? key.scopes)],
    projects: [...new Set(body.projects ?? key.projects)],
    name: sent(body.name, key.name),
    models: sent(body.models && [...new Set(body.models)], key.models),
    expires_at_us: sent(expires_at && timestampUs(expires_at), key.expires_at_us),
    requests_per_minute: sent(body.requests_per_minute, key.requests_per_minute),
    tokens_per_minute: sent(body.tokens_per_minute, key.tokens_per_minute),
    parallel_requests: sent(body.parallel_requests, key.parallel_requests),
  }
}

/** Returns the value that a client sends, null included; otherwise the stored one. */
function sent<T>(value: T | null | undefined | '', stored: T | null): T | null {
  return value === undefined || value === '' ? stored : value
}

/** A pattern of one entity is the caller's where the caller has it, too, or all; a project as every request has it. */
function ownsPattern(caller: Principal, pattern: string): boolean {
  if (caller.projects.includes('*') || caller.projects.includes(pattern)) return true
  return !pattern.includes('*') && canUseProject(caller, pattern)
}
