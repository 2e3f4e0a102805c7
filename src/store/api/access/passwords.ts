/** The contract of the store of passwords, for people who sign in without an identity provider. */
import type { AuditOrigin } from '../../../domain/access/audit.ts'
import type { Person } from '../../../domain/access/roles.ts'
import type { SignInOrigin } from './people.ts'

/** The password of a person, hashed. Secret. */
interface StoredPassword {
  readonly person_id: string
  readonly password_hash: string
}

/** A link that sets a password once. */
interface NewLink {
  readonly id: string
  /** SHA-256 of its secret, in hex. */
  readonly link_hash: string
  readonly link_expires_at_us: number
  readonly now_us: number
}

interface LinkUse {
  readonly link_hash: string
  readonly password_hash: string
  readonly now_us: number
}

interface PasswordChange {
  readonly id: string
  /** The one that was checked: when it has changed since, nothing happens. */
  readonly checked_hash: string
  readonly password_hash: string
  readonly now_us: number
}

type PasswordSignIn = Omit<PasswordChange, 'password_hash'>

/**
 * Each change adds an entry to the audit list in its transaction. A person who has signed in at an identity provider has
 * no password. A change ends all sessions that began before, in every process within a second.
 */
export interface PasswordStore {
  /** The password of whoever has this e-mail, in lower case; null: none. */
  findPasswordByEmail(email: string): Promise<StoredPassword | null>
  findPassword(person_id: string): Promise<StoredPassword | null>
  /**
   * Replaces the password and the link of a person by a new link. False: there is no such person.
   *
   * @throws ApiError person_conflict for somebody who signs in at an identity provider
   */
  createLink(link: NewLink, by: AuditOrigin): Promise<boolean>
  /** Whether a link can be used now. */
  hasLink(link: Pick<LinkUse, 'link_hash' | 'now_us'>): Promise<boolean>
  /** Sets the password by a link, which is used up. Null: there is no such link, or the person was removed. */
  setByLink(use: LinkUse, from: SignInOrigin): Promise<Person | null>
  /** False: the password has changed since it was checked. */
  changePassword(change: PasswordChange, from: SignInOrigin): Promise<boolean>
  /** Null: the person was removed, or the password has changed since it was checked. */
  signInByPassword(signIn: PasswordSignIn, from: SignInOrigin): Promise<Person | null>
}
