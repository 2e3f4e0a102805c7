/** Signing in at an identity provider, and signing out. Additions to the spec. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { grantsOfClaims, nameOfClaims, verifiedEmail } from '../../domain/access/claim-grants.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { fromOf } from '../../http/audit-origin.ts'
import { newId } from '../../http/new-id.ts'
import {
  createIdentityProvider,
  type IdentityProvider,
  type ProviderSettings,
} from '../../http/sign-in/identity-provider.ts'
import { beginSession, type SignInSettings } from '../../http/sign-in/sessions.ts'
import { SessionResponse } from '../../schemas/access/password.ts'
import { SignInQuery, SignOutRequest, SignOutResponse } from '../../schemas/access/person.ts'
import type { Stores } from '../../store/api/stores.ts'

const tags = ['server']
/** Limit: a longer token would not fit into a cookie of 4096 bytes. */
const ID_TOKEN_CHARS_MAX = 1800

interface SignInRoutesOptions extends Pick<Stores, 'people'>, Pick<Clock, 'nowUs'> {
  /** Null: nobody signs in. */
  readonly signIn: SignInSettings | null
}

interface Opened extends SignInRoutesOptions, Pick<ProviderSettings, 'rules'> {
  readonly publicOrigin: string
  readonly provider: IdentityProvider
}

/** Must be registered in a scope without authentication. */
export async function signInRoutes(app: App, options: SignInRoutesOptions): Promise<void> {
  const { signIn, people } = options
  app.get(
    '/auth/session',
    {
      schema: {
        tags,
        security: [],
        operationId: 'describeSession',
        summary: 'Return who is signed in by the cookie (addition to the spec).',
        response: { 200: SessionResponse },
      },
    },
    async ({ principal }, reply) => {
      reply.header('cache-control', 'no-store')
      const known = principal && (await people.findPerson(principal.svc_user_id))
      const person = principal && {
        id: principal.svc_user_id,
        name: principal.svc_username,
        has_password: known !== null && known.password_set_at_us !== null,
      }
      const { provider = null, hasPasswords: passwords = false } = signIn ?? {}
      return { sign_in: provider !== null, passwords, person }
    },
  )
  if (signIn === null) return
  const { publicOrigin } = signIn
  const provider = signIn.provider && createIdentityProvider(signIn.provider, publicOrigin)
  addSignOut(app, options, provider)
  if (signIn.provider === null || provider === null) return
  addSignIn(app, { ...options, publicOrigin, provider, rules: signIn.provider.rules })
}

function addSignIn(app: App, options: Opened): void {
  const { provider, publicOrigin } = options
  app.get(
    '/auth/sign-in',
    {
      schema: {
        tags,
        security: [],
        operationId: 'signIn',
        summary: 'Send the browser to the identity provider (addition to the spec).',
        querystring: SignInQuery,
      },
    },
    async (request, reply) => {
      try {
        const { url, ...checks } = await provider.begin()
        const return_to = toOwnPath(request.query.return_to ?? '/', publicOrigin)
        request.pending.set({ ...checks, return_to })
        return redirect(reply, url)
      } catch (error) {
        return refuse(request, reply, { code: 'provider_unavailable', error })
      }
    },
  )

  app.get(
    '/auth/callback',
    {
      schema: {
        tags,
        security: [],
        operationId: 'finishSignIn',
        summary: 'Begin the session of who has signed in (addition to the spec).',
      },
    },
    async (request, reply) => {
      const pending = request.pending.get()
      // Each sign-in ends once, whatever its outcome.
      request.pending.delete()
      if (pending === undefined) return refuse(request, reply, { code: 'sign_in_expired' })
      try {
        const { search } = new URL(request.url, publicOrigin)
        const code = await admit(request, options, await provider.finish(search, pending))
        return code === null ? redirect(reply, pending.return_to) : refuse(request, reply, { code })
      } catch (error) {
        return refuse(request, reply, { code: 'sign_in_failed', error })
      }
    },
  )
}

/** Begins the session. @returns why the person is refused, or null */
async function admit(
  request: FastifyRequest,
  { people, rules, nowUs }: Opened,
  { issuer, subject, claims, idToken }: Awaited<ReturnType<IdentityProvider['finish']>>,
): Promise<string | null> {
  const now_us = nowUs()
  const signedIn = {
    id: newId(),
    issuer,
    subject,
    email: verifiedEmail(claims),
    name: nameOfClaims(claims),
    claim_grants: grantsOfClaims(rules, claims),
    now_us,
  }
  const person = await people.signIn(signedIn, fromOf(request))
  if (person === null) return 'person_unknown'
  if (person.disabled_at_us !== null) return 'person_removed'
  if (person.grants.length + person.claim_grants.length === 0) return 'person_without_role'
  const id_token = idToken.length > ID_TOKEN_CHARS_MAX ? null : idToken
  beginSession(request, person, { now_us, id_token })
  return null
}

function addSignOut(
  app: App,
  { people, nowUs }: SignInRoutesOptions,
  provider: IdentityProvider | null,
): void {
  app.post(
    '/auth/sign-out',
    {
      schema: {
        tags,
        security: [],
        operationId: 'signOut',
        summary: 'End all sessions of the person of the cookie (addition to the spec).',
        body: SignOutRequest,
        response: { 200: SignOutResponse },
      },
    },
    async (request) => {
      const session = request.session.get()
      if (request.principal === null || session === undefined) {
        throw new ApiError('missing_api_key', { message: 'Nobody is signed in by a cookie.' })
      }
      // Not only this cookie: a copy of it would otherwise stay valid.
      await people.endSessions({ id: session.person_id, now_us: nowUs() }, fromOf(request))
      request.session.delete()
      request.log.info({ person_id: session.person_id }, 'signed out')
      return { redirect_url: (await provider?.findEnd(session.id_token)) ?? null }
    },
  )
}

/** The path of an address of this server; of any other, the root. */
function toOwnPath(address: string, publicOrigin: string): string {
  const url = URL.parse(address, publicOrigin)
  if (url?.origin !== publicOrigin) return '/'
  return `${url.pathname.replace(/^\/+/, '/')}${url.search}`
}

function redirect(reply: FastifyReply, url: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(url, 302)
}

/** Shows the page, which says why; the log has the cause. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  { code, error }: { readonly code: string; readonly error?: unknown },
): FastifyReply {
  const cause = error instanceof Error ? `${error.message} ${causeOf(error)}`.trim() : undefined
  request.log.warn({ code, cause }, 'sign-in refused')
  return redirect(reply, `/?sign_in=${code}`)
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? cause.message : ''
}
