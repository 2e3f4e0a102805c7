/** People who sign in, and their roles. Additions to the spec. */
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ownsProjects } from '../../domain/access/key-view.ts'
import { type Principal, requireScope } from '../../domain/access/permissions.ts'
import { type Person, projectsOf, renderPerson } from '../../domain/access/roles.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { newId } from '../../http/new-id.ts'
import type { SignInSettings } from '../../http/sign-in/sessions.ts'
import { PasswordLinkRequest, PasswordLinkResponse } from '../../schemas/access/password.ts'
import {
  PersonCreateRequest,
  PersonListQuery,
  PersonListResponse,
  PersonParams,
  PersonResponse,
  PersonUpdateRequest,
  type RoleGrant,
} from '../../schemas/access/person.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { Stores } from '../../store/api/stores.ts'
import { hashLink } from './passwords.ts'

const tags = ['server']
const url = '/v1/people'

interface PersonRoutesOptions extends Pick<Stores, 'people' | 'passwords'>, Pick<Clock, 'nowUs'> {
  readonly signIn: Pick<SignInSettings, 'publicOrigin' | 'hasPasswords'> | null
}

export async function personRoutes(app: App, options: PersonRoutesOptions): Promise<void> {
  const { people, nowUs } = options
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listPeople',
        summary: 'List the people of projects that the key may use (addition to the spec).',
        querystring: PersonListQuery,
        response: { 200: PersonListResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const shown = (await people.listPeople()).filter((person) => mayManage(person, caller))
      return { object: 'list' as const, data: shown.map(renderPerson) }
    },
  )

  app.post(
    url,
    {
      schema: {
        tags,
        operationId: 'invitePerson',
        summary: 'Invite a person by e-mail; Weft sends no message (addition to the spec).',
        body: PersonCreateRequest,
        response: { 200: PersonResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const { email, name = null, grants } = request.body
      requireOwnGrants(grants, caller)
      const person: Person = {
        ...INVITED,
        id: newId(),
        email: email.toLowerCase(),
        name,
        grants,
        created_at_us: nowUs(),
      }
      await people.createPerson(person, originOf(request, caller))
      return renderPerson(person)
    },
  )

  addChanges(app, options)
  addLinks(app, options)
}

const INVITED = {
  issuer: null,
  subject: null,
  claim_grants: [],
  signed_in_at_us: null,
  password_set_at_us: null,
  link_expires_at_us: null,
  sessions_from_us: 0,
  disabled_at_us: null,
}

function addChanges(app: App, { people, nowUs }: PersonRoutesOptions): void {
  const change = async (request: FastifyRequest, id: string, body: PersonUpdateRequest) => {
    const caller = requireScope(request.principal, 'admin')
    const found = await findManaged(people, id, caller)
    requireOwnGrants(body.grants ?? [], caller)
    const edited = editPerson(found, body, nowUs())
    if (!(await people.updatePerson(edited, originOf(request, caller)))) throw notFound()
    return renderPerson(edited)
  }

  app.patch(
    `${url}/:person_id`,
    {
      schema: {
        tags,
        operationId: 'updatePerson',
        summary:
          'Change the name or roles of a person, or end its sessions, within a second (addition to the spec).',
        params: PersonParams,
        body: PersonUpdateRequest,
        response: { 200: PersonResponse },
      },
    },
    async (request) => change(request, request.params.person_id, request.body),
  )

  app.delete(
    `${url}/:person_id`,
    {
      schema: {
        tags,
        operationId: 'removePerson',
        summary:
          'Remove a person: sessions end within a second, further sign-ins are refused (addition to the spec).',
        params: PersonParams,
        response: { 200: PersonResponse },
      },
    },
    async (request) => change(request, request.params.person_id, { disabled: true }),
  )
}

/** Limit: milliseconds for which a link is valid. */
const LINK_MS = 7 * 86_400_000

function addLinks(app: App, { people, passwords, signIn, nowUs }: PersonRoutesOptions): void {
  app.post(
    `${url}/:person_id/password_link`,
    {
      schema: {
        tags,
        operationId: 'createPasswordLink',
        summary:
          'Make a link by which a person sets a password; the password so far and all sessions end (addition to the spec).',
        params: PersonParams,
        body: PasswordLinkRequest,
        response: { 200: PasswordLinkResponse },
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'admin')
      const { id } = await findManaged(people, request.params.person_id, caller)
      if (!signIn?.hasPasswords) throw new ApiError('passwords_off')
      const secret = randomBytes(LINK_BYTES).toString('base64url')
      const now_us = nowUs()
      const link_expires_at_us = now_us + LINK_MS * 1000
      const link = { id, link_hash: hashLink(secret), link_expires_at_us, now_us }
      if (!(await passwords.createLink(link, originOf(request, caller)))) throw notFound()
      reply.header('cache-control', 'no-store')
      return {
        // A fragment reaches no server and no log.
        url: `${signIn.publicOrigin}/#password=${secret}`,
        expires_at: renderTimestamp(link_expires_at_us),
      }
    },
  )
}

/** Bytes of randomness in a link. */
const LINK_BYTES = 32

/** @throws ApiError person_not_found */
async function findManaged(
  people: Stores['people'],
  id: string,
  caller: Principal,
): Promise<Person> {
  const found = await people.findPerson(id)
  if (found === null || !mayManage(found, caller)) throw notFound()
  return found
}

/** Sessions end with the removal, and stay ended when the person is admitted again. */
function editPerson(person: Person, body: PersonUpdateRequest, nowUs: number): Person {
  const { disabled, end_sessions = false, name = person.name, grants = person.grants } = body
  const sessions_from_us = end_sessions ? nowUs : person.sessions_from_us
  const edited = { ...person, name, grants, sessions_from_us }
  if (disabled === undefined) return edited
  if (!disabled) return { ...edited, disabled_at_us: null }
  return { ...edited, disabled_at_us: person.disabled_at_us ?? nowUs, sessions_from_us: nowUs }
}

/**
 * Spec: §5 (permission rules not shown). Choice: an admin of some projects manages people of these alone, and people
 * without a role only an admin of all.
 */
function mayManage(person: Person, caller: Principal): boolean {
  const projects = projectsOf(person)
  return ownsProjects(caller, projects.length === 0 ? ['*'] : projects)
}

/** @throws ApiError project_forbidden */
function requireOwnGrants(grants: readonly RoleGrant[], caller: Principal): void {
  const isOwn = grants.every(({ projects }) => ownsProjects(caller, projects))
  if (!isOwn) throw new ApiError('project_forbidden', { param: 'grants' })
}

function notFound(): ApiError {
  return new ApiError('person_not_found', { param: 'person_id' })
}
