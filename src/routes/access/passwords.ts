/** Signing in with a password, for people without an identity provider. Additions to the spec. */
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../domain/access/permissions.ts'
import { type Person, projectsOf, toPersonPrincipal } from '../../domain/access/roles.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { fromOf } from '../../http/audit-origin.ts'
import { isProvenSameOrigin } from '../../http/cross-origin.ts'
import { beginSession, type SignInSettings } from '../../http/sign-in/sessions.ts'
import { createSignInAttempts, readClientAddress } from '../../http/sign-in/sign-in-attempts.ts'
import {
  PasswordChangeRequest,
  PasswordSetRequest,
  PasswordSignInRequest,
  SessionResponse,
} from '../../schemas/access/password.ts'
import type { Stores } from '../../store/api/stores.ts'
import { createPasswordHashes, type PasswordHashes } from './password-hashes.ts'

const tags = ['server']

interface PasswordRoutesOptions extends Pick<Stores, 'passwords'>, Pick<Clock, 'nowUs'> {
  readonly signIn: SignInSettings | null
}

interface Opened extends PasswordRoutesOptions {
  readonly signIn: SignInSettings
  readonly hashes: PasswordHashes
  readonly attempts: ReturnType<typeof createSignInAttempts>
}

/** The hash by which a link is stored. A fast one is enough: links have 256 random bits. */
export function hashLink(secret: string): string {
  return hash('sha256', secret)
}

/** Must be registered in a scope without authentication. */
export async function passwordRoutes(app: App, options: PasswordRoutesOptions): Promise<void> {
  const { signIn } = options
  if (!signIn?.hasPasswords) return
  const hashes = await createPasswordHashes()
  app.addHook('onClose', async () => hashes.close())
  // A page of another origin could otherwise sign its visitors in as somebody else.
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isProvenSameOrigin(request, signIn.publicOrigin)) {
      throw new ApiError('cross_origin_request', {
        message: 'A sign-in must prove that a page of this server sends it.',
      })
    }
    done()
  })
  const attempts = createSignInAttempts(() => performance.now())
  const opened = { ...options, signIn, hashes, attempts }
  addSignIn(app, opened)
  addSet(app, opened)
  addChange(app, opened)
}

function addSignIn(app: App, { signIn, passwords, nowUs, hashes, attempts }: Opened): void {
  app.post(
    '/auth/password',
    {
      schema: {
        tags,
        security: [],
        operationId: 'signInByPassword',
        summary: 'Begin the session of who has this e-mail and password (addition to the spec).',
        body: PasswordSignInRequest,
        response: { 200: SessionResponse },
      },
    },
    async (request) => {
      const { password } = request.body
      const email = request.body.email.toLowerCase()
      const address = readClientAddress(request)
      const giveBack = attempts.take(email, address)
      const found = await passwords.findPasswordByEmail(email)
      const { person_id: id, password_hash: checked_hash } = found ?? NOBODY
      const isRight = await hashes.isOf(found && checked_hash, password, address)
      const now_us = nowUs()
      const person = isRight
        ? await passwords.signInByPassword({ id, checked_hash, now_us }, fromOf(request))
        : null
      if (person === null) {
        request.log.warn({ code: 'password_wrong' }, 'sign-in refused')
        throw new ApiError('password_wrong')
      }
      giveBack()
      return describe(signIn, admit(request, person, now_us))
    },
  )
}

const NOBODY = { person_id: '', password_hash: '' }

function addSet(app: App, { signIn, passwords, nowUs, hashes, attempts }: Opened): void {
  app.post(
    '/auth/password/set',
    {
      schema: {
        tags,
        security: [],
        operationId: 'setPassword',
        summary: 'Set a password by a link, once, and begin a session (addition to the spec).',
        body: PasswordSetRequest,
        response: { 200: SessionResponse },
      },
    },
    async (request) => {
      const link_hash = hashLink(request.body.secret)
      const address = readClientAddress(request)
      const giveBack = attempts.take(null, address)
      if (!(await passwords.hasLink({ link_hash, now_us: nowUs() }))) throw noLink()
      const password_hash = await hashes.hash(request.body.password, address)
      const now_us = nowUs()
      const use = { link_hash, password_hash, now_us }
      const person = await passwords.setByLink(use, fromOf(request))
      if (person === null) throw noLink()
      giveBack()
      return describe(signIn, admit(request, person, now_us))
    },
  )
}

function addChange(app: App, { signIn, passwords, nowUs, hashes, attempts }: Opened): void {
  app.post(
    '/auth/password/change',
    {
      schema: {
        tags,
        security: [],
        operationId: 'changePassword',
        summary: 'Change the own password and end all other sessions (addition to the spec).',
        body: PasswordChangeRequest,
        response: { 200: SessionResponse },
      },
    },
    async (request) => {
      const session = request.session.get()
      if (request.principal === null || session === undefined) {
        throw new ApiError('missing_api_key', { message: 'Nobody is signed in by a cookie.' })
      }
      const { person_id: id } = session
      const { password, new_password } = request.body
      const address = readClientAddress(request)
      const giveBack = attempts.take(id, address)
      const found = await passwords.findPassword(id)
      const checked_hash = found?.password_hash ?? null
      if (!(await hashes.isOf(checked_hash, password, address)) || checked_hash === null) {
        throw new ApiError('password_wrong', {
          message: 'The password is wrong.',
          param: 'password',
        })
      }
      const password_hash = await hashes.hash(new_password, address)
      const now_us = nowUs()
      const change = { id, checked_hash, password_hash, now_us }
      if (!(await passwords.changePassword(change, fromOf(request)))) {
        throw new ApiError('password_wrong', { message: 'The password has changed meanwhile.' })
      }
      giveBack()
      beginSession(request, { id, sessions_from_us: now_us }, { now_us })
      return describe(signIn, request.principal)
    },
  )
}

/** Begins the session. @throws ApiError scope_missing for somebody without a role */
function admit(request: FastifyRequest, person: Person, now_us: number): Principal {
  if (projectsOf(person).length === 0) {
    throw new ApiError('scope_missing', { message: 'You have no role yet. Ask an admin.' })
  }
  beginSession(request, person, { now_us })
  return toPersonPrincipal(person)
}

function describe(
  { provider }: SignInSettings,
  { svc_user_id: id, svc_username: name }: Principal,
) {
  const person = { id, name, has_password: true }
  return { sign_in: provider !== null, passwords: true, person }
}

function noLink(): ApiError {
  return new ApiError('password_link_not_found', { param: 'secret' })
}
