/** Signing in and out at an identity provider. Additions to the spec. */
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
  type SignInSettings,
} from '../../http/sign-in/identity-provider.ts'
import { beginSession } from '../../http/sign-in/sessions.ts'
import {
  SessionResponse,
  SignInQuery,
  SignOutRequest,
  SignOutResponse,
} from '../../schemas/access/person.ts'
import type { Stores } from '../../store/api/stores.ts'

const tags = ['server']
/** Limit: a longer token would not fit into a cookie of 4096 bytes. */
const ID_TOKEN_CHARS_MAX = 1800

interface SignInRoutesOptions extends Pick<Stores, 'people'>, Pick<Clock, 'nowUs'> {
  /** Null: nobody signs in. */
  readonly signIn: SignInSettings | null
}

interface Opened extends SignInRoutesOptions {
  readonly signIn: SignInSettings
  readonly provider: IdentityProvider
}

/** Must be registered in a scope without authentication. */
export async function signInRoutes(app: App, options: SignInRoutesOptions): Promise<void> {
  const { signIn } = options
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
      const person = principal && { id: principal.svc_user_id, name: principal.svc_username }
      return { sign_in: signIn !== null, person }
    },
  )
  if (signIn === null) return
  const opened = { ...options, signIn, provider: createIdentityProvider(signIn) }
  addSignIn(app, opened)
  addSignOut(app, opened)
}

function addSignIn(app: App, options: Opened): void {
  const { provider, signIn } = options
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
        const return_to = toOwnPath(request.query.return_to ?? '/', signIn.publicOrigin)
        request.pending.set('of', { ...checks, return_to })
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
      const pending = request.pending.get('of')
      // Each sign-in ends once, whatever its outcome.
      request.pending.delete()
      if (pending === undefined) return refuse(request, reply, { code: 'sign_in_expired' })
      try {
        const { search } = new URL(request.url, signIn.publicOrigin)
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
  { people, signIn, nowUs }: Opened,
  { issuer, subject, claims, idToken }: Awaited<ReturnType<IdentityProvider['finish']>>,
): Promise<string | null> {
  const signedIn = {
    id: newId(),
    issuer,
    subject,
    email: verifiedEmail(claims),
    name: nameOfClaims(claims),
    claim_grants: grantsOfClaims(signIn.rules, claims),
    now_us: nowUs(),
  }
  const person = await people.signIn(signedIn, fromOf(request))
  if (person === null) return 'person_unknown'
  if (person.disabled_at_us !== null) return 'person_removed'
  if (person.grants.length + person.claim_grants.length === 0) return 'person_without_role'
  beginSession(request, {
    person_id: person.id,
    started_at_us: Math.max(nowUs(), person.sessions_from_us + 1),
    seen_at_ms: Date.now(),
    id_token: idToken.length > ID_TOKEN_CHARS_MAX ? null : idToken,
  })
  request.log.info({ person_id: person.id }, 'signed in')
  return null
}

function addSignOut(app: App, { provider, people, nowUs }: Opened): void {
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
      const session = request.session.get('of')
      if (request.principal === null || session === undefined) {
        throw new ApiError('missing_api_key', { message: 'Nobody is signed in by a cookie.' })
      }
      // Not only this cookie: a copy of it would otherwise stay valid.
      await people.endSessions({ id: session.person_id, now_us: nowUs() }, fromOf(request))
      request.session.delete()
      request.log.info({ person_id: session.person_id }, 'signed out')
      return { redirect_url: await provider.findEnd(session.id_token) }
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
