/** Passwords in SQLite and PostgreSQL alike. */
import { SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import type { Person } from '../../../domain/access/roles.ts'
import { ApiError } from '../../../errors.ts'
import type { PasswordStore } from '../../api/access/passwords.ts'
import type { SignInOrigin } from '../../api/access/people.ts'
import type { Dialect } from '../db/dialect.ts'
import { first, run, type StepRuns, type Steps } from '../db/steps.ts'
import { stamp } from './audit-store.ts'
import * as SQL from './passwords.sql.ts'
import { FIND_PERSON } from './people.sql.ts'
import { type Audited, findPerson, recordOwn, recordPerson } from './person-store.ts'

type InputOf<Name extends keyof PasswordStore> = Audited<Parameters<PasswordStore[Name]>[0]>

type PasswordWrites = ReturnType<typeof createPasswordWrites>

export function createPasswordWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const locked = `${FIND_PERSON} ${forUpdate}`

  /** Sets the password of a person that is locked. */
  function* set(before: Person, { by, ...change }: Audited<PasswordSet>): Steps<Person> {
    const { now_us } = change
    yield* run(SQL.SET_PASSWORD, { ...change, id: before.id })
    const after = {
      ...before,
      password_set_at_us: now_us,
      link_expires_at_us: null,
      sessions_from_us: now_us,
      signed_in_at_us: now_us,
    }
    yield* recordOwn(by, { action: 'person.set_password', before, after })
    return after
  }

  return {
    *create_password_link({ by, ...link }: InputOf<'createLink'>): Steps<boolean> {
      const before = yield* findPerson(locked, { id: link.id })
      if (before === null) return false
      if (before.subject !== null) {
        const message = 'The person signs in at the identity provider, and has no password here.'
        throw new ApiError('person_conflict', { message })
      }
      yield* run(SQL.CREATE_LINK, link)
      const { link_expires_at_us, now_us: sessions_from_us } = link
      const changed = { password_set_at_us: null, link_expires_at_us, sessions_from_us }
      const after = { ...before, ...changed }
      yield* recordPerson(by, { action: 'person.create_link', before, after })
      return true
    },
    *set_password_by_link({ by, ...use }: InputOf<'setByLink'>): Steps<Person | null> {
      const { link_hash, password_hash, now_us } = use
      const found = yield* first<{ id: string }>(SQL.FIND_LINK, { link_hash, now_us })
      if (found === undefined) return null
      const before = yield* findPerson(locked, { id: found.id })
      // Another process may have used it meanwhile.
      const isLeft = yield* first(SQL.FIND_LINK, { link_hash, now_us })
      if (before === null || isLeft === undefined) return null
      return yield* set(before, { password_hash, now_us, by })
    },
    *change_password({ by, ...change }: InputOf<'changePassword'>): Steps<boolean> {
      const { id, checked_hash, password_hash, now_us } = change
      const before = yield* findPerson(locked, { id })
      const stored = yield* first<{ password_hash: string }>(SQL.FIND_PASSWORD, { id })
      if (before === null || stored?.password_hash !== checked_hash) return false
      yield* set(before, { password_hash, now_us, by })
      return true
    },
    *sign_in_by_password({ by, ...signIn }: InputOf<'signInByPassword'>): Steps<Person | null> {
      const before = yield* findPerson(locked, { id: signIn.id })
      if (before === null || (yield* run(SQL.NOTE_PASSWORD_SIGN_IN, signIn)) === 0) return null
      const after = { ...before, signed_in_at_us: signIn.now_us }
      yield* recordOwn(by, { action: 'person.sign_in', before, after })
      return after
    },
  }
}

interface PasswordSet {
  readonly password_hash: string
  readonly now_us: number
}

export function createPasswordStore({ read, write }: StepRuns<PasswordWrites>): PasswordStore {
  return {
    findPasswordByEmail: async (email) =>
      (await read(first<StoredRow>(SQL.FIND_PASSWORD_BY_EMAIL, { email }))) ?? null,
    findPassword: async (id) => (await read(first<StoredRow>(SQL.FIND_PASSWORD, { id }))) ?? null,
    createLink: (link, by) => write('create_password_link', { ...link, by: stamp(by) }),
    hasLink: async (link) => (await read(first(SQL.FIND_LINK, link))) !== undefined,
    setByLink: (use, from) => write('set_password_by_link', { ...use, by: ownStamp(from) }),
    changePassword: (change, from) => write('change_password', { ...change, by: ownStamp(from) }),
    signInByPassword: (signIn, from) =>
      write('sign_in_by_password', { ...signIn, by: ownStamp(from) }),
  }
}

interface StoredRow {
  readonly person_id: string
  readonly password_hash: string
}

/** The work names the person as who does it. */
function ownStamp(from: SignInOrigin) {
  return stamp({ ...SERVER_ORIGIN, ...from })
}
