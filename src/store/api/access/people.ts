/** The contract of the store of people. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { Principal } from '../../../domain/access/permissions.ts'
import type { Person } from '../../../domain/access/roles.ts'

/** What an identity provider reports about somebody who signs in. */
export interface SignIn extends Pick<Person, 'name' | 'claim_grants'> {
  /** Id of the person, if this is the first sign-in. */
  readonly id: string
  readonly issuer: string
  readonly subject: string
  /** Verified, in lower case; null: none. */
  readonly email: string | null
  readonly now_us: number
}

/** From where a person signs in or out. */
export type SignInOrigin = Pick<AuditOrigin, 'address' | 'forwarded_for'>

export interface PersonSession {
  readonly person_id: string
  readonly started_at_us: number
}

/**
 * Changes of people, sign-ins and sign-outs add entries to the audit list as those of keys do; a person who signs in or out
 * is who does it.
 */
export interface PersonStore {
  /**
   * The caller of a session; null when the person was removed or has signed out since. Cached: what another process
   * changes applies within a second.
   *
   * @throws ApiError store_unavailable
   */
  findPrincipal(session: PersonSession): Promise<Principal | null>
  findPerson(id: string): Promise<Person | null>
  /** All, oldest first; at most PEOPLE_MAX. */
  listPeople(): Promise<Person[]>
  /** @throws ApiError person_conflict, validation_failed for more than PEOPLE_MAX */
  createPerson(person: Person, by?: AuditOrigin): Promise<void>
  /** Sets what can be edited. False when there is no such person. */
  updatePerson(person: PersonEdit, by?: AuditOrigin): Promise<boolean>
  /**
   * Finds the person by issuer and subject, else the invitation by e-mail, and otherwise makes one if the claims give a
   * role.
   *
   * @returns null for somebody unknown without a role
   */
  signIn(signIn: SignIn, from?: SignInOrigin): Promise<Person | null>
  /** Ends all sessions of a person that began before. */
  endSessions(
    session: { readonly id: string; readonly now_us: number },
    from?: SignInOrigin,
  ): Promise<void>
}

export type PersonEdit = Pick<
  Person,
  'id' | 'name' | 'grants' | 'disabled_at_us' | 'sessions_from_us'
>

/** Limit: people of a server. */
export const PEOPLE_MAX = 20_000
