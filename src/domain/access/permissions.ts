/** Permissions: the scopes and project patterns of a key. Pure. */
import { ApiError } from '../../errors.ts'
import type { SCOPES } from '../../schemas/access/key.ts'

/** A right that a key carries. */
export type Scope = (typeof SCOPES)[number]

/** Limits of one key; null: the server's default; 0: none. */
export interface KeyLimitSettings {
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  /** Completions that may run at once; others wait. */
  readonly parallel_requests: number | null
}

/** Scopes in some projects. */
export interface ScopeGrant {
  readonly scopes: readonly Scope[]
  readonly projects: readonly string[]
}

/** The caller behind a request. */
export interface Principal {
  readonly keyId: string
  readonly svc_user_id: string
  readonly svc_username: string
  readonly scopes: readonly Scope[]
  /** `acme/demo`, `acme/*` or `*`. */
  readonly projects: readonly string[]
  /** Scopes by projects, of a person; `scopes` and `projects` then sum them up. Default: all scopes in all projects. */
  readonly grants?: readonly ScopeGrant[]
  /** Patterns of the models that it may use. Default: all. */
  readonly models?: readonly string[]
  /** Default: those of the server. */
  readonly limits?: KeyLimitSettings
}

/**
 * Whether the key may use a model.
 *
 * @param names - the names of the model; one that is allowed is enough
 *
 * Spec: §5 (permission rules not shown). Choice: a pattern is a name, or the beginning of names and `*`.
 */
export function canUseModel(
  { models }: Pick<Principal, 'models'>,
  names: readonly string[],
): boolean {
  if (models === undefined) return true
  return models.some((pattern) =>
    pattern.endsWith('*')
      ? names.some((name) => name.startsWith(pattern.slice(0, -1)))
      : names.includes(pattern),
  )
}

/** Whether the key may use a project at all. */
export function canUseProject(principal: Pick<Principal, 'projects'>, projectId: string): boolean {
  const entity = projectId.slice(0, projectId.indexOf('/'))
  return principal.projects.some(
    (pattern) => pattern === '*' || pattern === projectId || pattern === `${entity}/*`,
  )
}

/** Whether the key carries a scope; `admin` includes all. */
export function hasScope(principal: Pick<Principal, 'scopes'>, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('admin')
}

/** Whether the caller carries a scope in a project, of a person by one of its roles. */
export function hasAccess(
  principal: Pick<Principal, 'scopes' | 'projects' | 'grants'>,
  scope: Scope,
  projectId: string,
): boolean {
  const { grants = [principal] } = principal
  return grants.some((grant) => hasScope(grant, scope) && canUseProject(grant, projectId))
}

/** The caller with the projects in which it has the scope, and no others. */
function withScope(principal: Principal, scope: Scope): Principal {
  if (principal.grants === undefined) return principal
  const granted = principal.grants.filter((grant) => hasScope(grant, scope))
  return { ...principal, projects: [...new Set(granted.flatMap(({ projects }) => projects))] }
}

/**
 * Refuses a caller without the scope.
 *
 * @returns the caller, whose projects are those in which it has the scope
 * @throws ApiError missing_api_key when there is no caller, scope_missing
 *
 * Spec: §5 (permission rules not shown). Choice: scopes per kind of resource.
 */
export function requireScope(principal: Principal | null, scope: Scope): Principal {
  if (principal === null) throw new ApiError('missing_api_key')
  if (!hasScope(principal, scope)) {
    const subject = principal.grants === undefined ? 'The key lacks' : 'Your roles lack'
    throw new ApiError('scope_missing', { message: `${subject} the scope ${scope}.` })
  }
  return withScope(principal, scope)
}

/**
 * Refuses a caller without the scope or outside the project.
 *
 * @throws ApiError missing_api_key, scope_missing, project_forbidden
 */
export function requireAccess(
  principal: Principal | null,
  scope: Scope,
  projectId: string,
  param = 'project_id',
): Principal {
  const caller = requireScope(principal, scope)
  if (!canUseProject(caller, projectId)) throw new ApiError('project_forbidden', { param })
  return caller
}
