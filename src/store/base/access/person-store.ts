/** People in SQLite and PostgreSQL alike. */
import { type AuditAction, diffStates, SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import {
  type Person,
  projectsOf,
  renderPerson,
  toPersonPrincipal,
} from '../../../domain/access/roles.ts'
import { ApiError } from '../../../errors.ts'
import {
  PEOPLE_MAX,
  type PersonEdit,
  type PersonStore,
  type SignIn,
} from '../../api/access/people.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import { type AuditStamp, record, stamp } from './audit-store.ts'
import * as SQL from './people.sql.ts'
import { createPrincipalCache } from './principal-cache.ts'

interface PersonRow extends Omit<Person, 'grants' | 'claim_grants'> {
  readonly grants_json: string
  readonly claim_grants_json: string
}

/** A change and who makes it. */
export type Audited<Change> = Change & { readonly by: AuditStamp }

type PersonWrites = ReturnType<typeof createPersonWrites>

export function createPersonWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const lockPerson = `${SQL.FIND_PERSON} ${forUpdate}`

  function* insert(person: Person): Steps<void> {
    if ((yield* run(SQL.INSERT_PERSON, toRow(person))) === 0) throw new ApiError('person_conflict')
    if ((yield* count(SQL.COUNT_PEOPLE, {})) <= PEOPLE_MAX) return
    throw new ApiError('validation_failed', {
      message: `A server has at most ${PEOPLE_MAX} people.`,
    })
  }

  return {
    *create_person({ by, ...person }: Audited<Person>): Steps<void> {
      yield* insert(person)
      yield* recordPerson(by, { action: 'person.create', before: null, after: person })
    },
    *update_person({ grants, by, ...edit }: Audited<PersonEdit>): Steps<boolean> {
      const before = yield* findPerson(lockPerson, { id: edit.id })
      if (before === null) return false
      yield* run(SQL.UPDATE_PERSON, { ...edit, grants_json: JSON.stringify(grants) })
      const after = { ...before, ...edit, grants }
      yield* recordPerson(by, { action: 'person.update', before, after })
      return true
    },
    /** Returns the person as stored after the sign-in. */
    *sign_in_person({ by, ...signIn }: Audited<SignIn>): Steps<Person | null> {
      const { issuer, subject, email, claim_grants, now_us } = signIn
      const byEmail = email === null ? null : yield* findPerson(SQL.FIND_PERSON_BY_EMAIL, { email })
      const invited = byEmail?.subject === null ? byEmail : null
      const known = (yield* findPerson(SQL.FIND_PERSON_BY_SUBJECT, { issuer, subject })) ?? invited
      const isEmailFree = byEmail === null || byEmail.id === known?.id
      const signedIn = {
        issuer,
        subject,
        email: isEmailFree ? (email ?? known?.email ?? null) : (known?.email ?? null),
        name: known?.name ?? signIn.name,
        claim_grants,
        signed_in_at_us: now_us,
        password_set_at_us: null,
        link_expires_at_us: null,
      }
      if (known !== null) {
        if (known.disabled_at_us !== null) return known
        const person = { ...known, ...signedIn }
        const { id, name, email: stored, claim_grants_json } = toRow(person)
        const columns = { id, issuer, subject, email: stored, name, signed_in_at_us: now_us }
        yield* run(SQL.NOTE_SIGN_IN, { ...columns, claim_grants_json })
        yield* recordOwn(by, { action: 'person.sign_in', before: known, after: person })
        return person
      }
      if (claim_grants.length === 0) return null
      const { id } = signIn
      const unknown = { id, grants: [], created_at_us: now_us, sessions_from_us: 0 }
      const person = { ...unknown, ...signedIn, disabled_at_us: null }
      yield* insert(person)
      yield* recordOwn(by, { action: 'person.sign_in', before: null, after: person })
      return person
    },
    *end_sessions({ by, ...session }: Audited<SessionEnd>): Steps<void> {
      if ((yield* run(SQL.END_SESSIONS, session)) === 0) return
      const person = yield* findPerson(SQL.FIND_PERSON, { id: session.id })
      if (person === null) return
      yield* recordOwn(by, { action: 'person.sign_out', before: person, after: person })
    },
  }
}

interface SessionEnd {
  readonly id: string
  readonly now_us: number
}

/** A change of a person; null: there was none before. */
interface PersonChange {
  readonly action: AuditAction
  readonly before: Person | null
  readonly after: Person
}

/** A person without a role belongs to no project, and is managed by admins of all. */
export function* recordPerson(
  by: AuditStamp,
  { action, before, after }: PersonChange,
): Steps<void> {
  const patterns = [before, after].flatMap((person) => (person === null ? [] : projectsOf(person)))
  const projects = patterns.length === 0 ? ['*'] : patterns
  const states =
    before === null
      ? { before, after: renderPerson(after) }
      : diffStates(renderPerson(before), renderPerson(after))
  yield* record(by, { action, subject_id: after.id, projects, ...states })
}

/** The same for what the person does. */
export function recordOwn(by: AuditStamp, change: PersonChange): Steps<void> {
  const { keyId: key_id, svc_user_id } = toPersonPrincipal(change.after)
  return recordPerson({ ...by, key_id, svc_user_id }, change)
}

export function createPersonStore({ read, write }: StepRuns<PersonWrites>): PersonStore {
  const cache = createPrincipalCache(async (session) => {
    const [id = '', startedUs] = session.split(' ')
    const person = await read(findPerson(SQL.FIND_PERSON, { id }))
    const isOver = person === null || person.disabled_at_us !== null
    return isOver || Number(startedUs) <= person.sessions_from_us ? null : toPersonPrincipal(person)
  })
  /** Clears the cache also after a failure: the write may be durable. */
  const change: typeof write = (name, input) => write(name, input).finally(cache.clear)

  return {
    findPrincipal: ({ person_id, started_at_us }) => cache.find(`${person_id} ${started_at_us}`),
    findPerson: (id) => read(findPerson(SQL.FIND_PERSON, { id })),
    async listPeople() {
      return (await read(all<PersonRow>(SQL.LIST_PEOPLE, { limit: PEOPLE_MAX }))).map(toPerson)
    },
    createPerson: (person, by = SERVER_ORIGIN) =>
      write('create_person', { ...person, by: stamp(by) }),
    updatePerson: (person, by = SERVER_ORIGIN) =>
      change('update_person', { ...person, by: stamp(by) }),
    signIn: (signIn, from = SERVER_ORIGIN) =>
      change('sign_in_person', { ...signIn, by: stamp({ ...SERVER_ORIGIN, ...from }) }),
    endSessions: (session, from = SERVER_ORIGIN) =>
      change('end_sessions', { ...session, by: stamp({ ...SERVER_ORIGIN, ...from }) }),
  }
}

export function* findPerson(
  sql: string,
  by: Readonly<Record<string, string>>,
): Steps<Person | null> {
  const row = yield* first<PersonRow>(sql, by)
  return row === undefined ? null : toPerson(row)
}

function toPerson({ grants_json, claim_grants_json, ...row }: PersonRow): Person {
  return { ...row, grants: JSON.parse(grants_json), claim_grants: JSON.parse(claim_grants_json) }
}

function toRow({ grants, claim_grants, ...person }: Person): PersonRow {
  return {
    ...person,
    grants_json: JSON.stringify(grants),
    claim_grants_json: JSON.stringify(claim_grants),
  }
}
