/** People in SQLite and PostgreSQL alike. */
import { type Person, toPersonPrincipal } from '../../../domain/access/roles.ts'
import { ApiError } from '../../../errors.ts'
import {
  PEOPLE_MAX,
  type PersonEdit,
  type PersonStore,
  type SignIn,
} from '../../api/access/people.ts'
import { all, count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './people.sql.ts'
import { createPrincipalCache } from './principal-cache.ts'

interface PersonRow extends Omit<Person, 'grants' | 'claim_grants'> {
  readonly grants_json: string
  readonly claim_grants_json: string
}

export const PERSON_WRITES = {
  *create_person(person: Person): Steps<void> {
    if ((yield* run(SQL.INSERT_PERSON, toRow(person))) === 0) throw new ApiError('person_conflict')
    if ((yield* count(SQL.COUNT_PEOPLE, {})) <= PEOPLE_MAX) return
    throw new ApiError('validation_failed', {
      message: `A server has at most ${PEOPLE_MAX} people.`,
    })
  },
  *update_person({ grants, ...person }: PersonEdit): Steps<boolean> {
    return (yield* run(SQL.UPDATE_PERSON, { ...person, grants_json: JSON.stringify(grants) })) > 0
  },
  /** Returns the person as stored after the sign-in. */
  *sign_in_person(signIn: SignIn): Steps<Person | null> {
    const { issuer, subject, email, claim_grants, now_us } = signIn
    const byEmail = email === null ? null : yield* find(SQL.FIND_PERSON_BY_EMAIL, { email })
    const invited = byEmail?.subject === null ? byEmail : null
    const known = (yield* find(SQL.FIND_PERSON_BY_SUBJECT, { issuer, subject })) ?? invited
    const isEmailFree = byEmail === null || byEmail.id === known?.id
    const signedIn = {
      issuer,
      subject,
      email: isEmailFree ? (email ?? known?.email ?? null) : (known?.email ?? null),
      name: known?.name ?? signIn.name,
      claim_grants,
      signed_in_at_us: now_us,
    }
    if (known !== null) {
      if (known.disabled_at_us !== null) return known
      const person = { ...known, ...signedIn }
      const { id, name, claim_grants_json } = toRow(person)
      const { claim_grants: _, ...columns } = signedIn
      yield* run(SQL.NOTE_SIGN_IN, { ...columns, id, name, claim_grants_json })
      return person
    }
    if (claim_grants.length === 0) return null
    const { id } = signIn
    const unknown = { id, grants: [], created_at_us: now_us, sessions_from_us: 0 }
    yield* PERSON_WRITES.create_person({ ...unknown, ...signedIn, disabled_at_us: null })
    return yield* find(SQL.FIND_PERSON, { id })
  },
  *end_sessions(session: { readonly id: string; readonly now_us: number }): Steps<void> {
    yield* run(SQL.END_SESSIONS, session)
  },
}

export function createPersonStore({ read, write }: StepRuns<typeof PERSON_WRITES>): PersonStore {
  const cache = createPrincipalCache(async (session) => {
    const [id = '', startedUs] = session.split(' ')
    const person = await read(find(SQL.FIND_PERSON, { id }))
    const isOver = person === null || person.disabled_at_us !== null
    return isOver || Number(startedUs) <= person.sessions_from_us ? null : toPersonPrincipal(person)
  })
  return {
    findPrincipal: ({ person_id, started_at_us }) => cache.find(`${person_id} ${started_at_us}`),
    findPerson: (id) => read(find(SQL.FIND_PERSON, { id })),
    async listPeople() {
      return (await read(all<PersonRow>(SQL.LIST_PEOPLE, { limit: PEOPLE_MAX }))).map(toPerson)
    },
    createPerson: (person) => write('create_person', person),
    async updatePerson(person) {
      const isKnown = await write('update_person', person)
      cache.clear()
      return isKnown
    },
    async signIn(signIn) {
      const person = await write('sign_in_person', signIn)
      cache.clear()
      return person
    },
    async endSessions(session) {
      await write('end_sessions', session)
      cache.clear()
    },
  }
}

function* find(sql: string, by: Readonly<Record<string, string>>): Steps<Person | null> {
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
