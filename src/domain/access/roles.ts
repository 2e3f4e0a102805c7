/** Roles of people: sets of scopes, by projects. Pure. */
import type { PersonResponse, RoleGrant } from '../../schemas/access/person.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import type { Principal, Scope, ScopeGrant } from './permissions.ts'

/**
 * Spec: §5 (permission rules not shown).
 * Choice: a role is a set of the scopes that keys have. Feedback is written by `traces:write`, which raters need.
 */
const SCOPES_OF_ROLES: Readonly<Record<RoleGrant['role'], readonly Scope[]>> = {
  playground: ['inference'],
  viewer: ['traces:read'],
  rater: ['traces:read', 'traces:write'],
  developer: ['traces:read', 'traces:write', 'inference', 'training'],
  admin: ['admin'],
}

/** Begins the key ids of people, before their own id. */
export const PERSON_KEY_PREFIX = 'person-'

/** Somebody who may sign in. */
export interface Person {
  readonly id: string
  readonly issuer: string | null
  readonly subject: string | null
  /** Verified, in lower case. */
  readonly email: string | null
  readonly name: string | null
  /** Given by admins. */
  readonly grants: readonly RoleGrant[]
  /** Given by the claims of the last sign-in. */
  readonly claim_grants: readonly RoleGrant[]
  readonly created_at_us: number
  readonly signed_in_at_us: number | null
  /** Null: the person has no password. */
  readonly password_set_at_us: number | null
  /** Of a link that sets the password; null: there is none. */
  readonly link_expires_at_us: number | null
  /** Sessions that began before are over. */
  readonly sessions_from_us: number
  readonly disabled_at_us: number | null
}

/** The patterns of all projects in which a person has a role. */
export function projectsOf({ grants, claim_grants }: Person): string[] {
  return [...grants, ...claim_grants].flatMap(({ projects }) => projects)
}

export function renderPerson(person: Person): PersonResponse {
  const { id, issuer, subject, email, name, grants, claim_grants } = person
  return {
    id,
    issuer,
    subject,
    email,
    name,
    grants: [...grants],
    claim_grants: [...claim_grants],
    created_at: renderTimestamp(person.created_at_us),
    signed_in_at: renderTimestampOrNull(person.signed_in_at_us),
    password_set_at: renderTimestampOrNull(person.password_set_at_us),
    link_expires_at: renderTimestampOrNull(person.link_expires_at_us),
    sessions_from: renderTimestampOrNull(person.sessions_from_us || null),
    disabled_at: renderTimestampOrNull(person.disabled_at_us),
  }
}

/** The caller that a person is: the user of what the person does is named by the person. */
export function toPersonPrincipal(person: Person): Principal {
  const { id, name, email } = person
  const grants = [...person.grants, ...person.claim_grants].map(
    ({ role, projects }): ScopeGrant => ({ scopes: SCOPES_OF_ROLES[role], projects }),
  )
  return Object.freeze({
    keyId: `${PERSON_KEY_PREFIX}${id}`,
    svc_user_id: id,
    svc_username: name ?? email ?? id,
    scopes: [...new Set(grants.flatMap(({ scopes }) => scopes))],
    projects: [...new Set(grants.flatMap(({ projects }) => projects))],
    grants,
  })
}
