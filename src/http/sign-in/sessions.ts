/**
 * Sessions of people in a sealed cookie. A request that has one and no key gets the person as its principal, on all
 * routes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyCookie from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Principal } from '../../domain/access/permissions.ts'
import type { Person } from '../../domain/access/roles.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../app-type.ts'
import { isProvenSameOrigin, SAFE_METHODS } from '../cross-origin.ts'
import type { ProviderSettings, SignInChecks } from './identity-provider.ts'
import { openSealedCookie, type SealedCookie } from './sealed-cookie.ts'

/** Limit: seconds from the begin of a sign-in until its end. */
const SIGN_IN_S_MAX = 600
const SECRET_FILE = 'session-secret'
/** Headers that may have a key: then the cookie says nothing. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'wandb-api-key']

/** How people sign in. */
export interface SignInSettings {
  /** As browsers see this server, without a path. */
  readonly publicOrigin: string
  /** Null: nobody signs in at a provider. */
  readonly provider: ProviderSettings | null
  /** Whether people may have passwords. */
  readonly hasPasswords: boolean
  /** Null: generated into the data directory. Secret. */
  readonly sessionSecret: string | null
  /** A session ends so long after its last request. */
  readonly idleMs: number
  /** A session ends so long after its begin. */
  readonly lifeMs: number
}

/** Times are of the wall clock. */
interface PersonSession {
  readonly person_id: string
  readonly started_at_us: number
  readonly seen_at_ms: number
  /** For the provider's sign-out; null: too long for a cookie. */
  readonly id_token: string | null
}

interface PendingSignIn extends SignInChecks {
  readonly return_to: string
}

declare module 'fastify' {
  interface FastifyRequest {
    session: SealedCookie<PersonSession>
    /** A sign-in that has begun. */
    pending: SealedCookie<PendingSignIn>
  }
}

interface SessionsOptions {
  readonly signIn: SignInSettings
  readonly dataDir: string
  readonly findPrincipal: (session: PersonSession) => Promise<Principal | null>
}

/** @throws ApiError cross_origin_request, store_unavailable */
export const sessions = fp<SessionsOptions>(
  async (app: App, { signIn, dataDir, findPrincipal }) => {
    const { publicOrigin, lifeMs } = signIn
    const secure = publicOrigin.startsWith('https:')
    const prefix = secure ? '__Host-' : ''
    const key = createHash('sha256')
      .update(signIn.sessionSecret ?? readSecretFile(dataDir))
      .digest()
    const sessionCookie = {
      name: `${prefix}weft_session`,
      key,
      expiryS: Math.ceil(lifeMs / 1000),
      secure,
      sameSite: 'strict',
    } as const
    const pendingCookie = {
      name: `${prefix}weft_sign_in`,
      key: createHash('sha256').update(key).digest(),
      expiryS: SIGN_IN_S_MAX,
      secure,
      // The provider sends the browser back from another site.
      sameSite: 'lax',
    } as const
    await app.register(fastifyCookie)
    app.addHook('onRequest', async (request) => {
      request.session = await openSealedCookie(request, sessionCookie)
      request.pending = await openSealedCookie(request, pendingCookie)
    })
    app.addHook('onSend', async (request, reply) => {
      // A request that was refused before it was read has none.
      await request.session?.write(reply)
      await request.pending?.write(reply)
    })
    app.addHook('onRequest', async (request) => {
      const session = request.session.get()
      if (session === undefined || KEY_HEADERS.some((name) => request.headers[name])) return
      const principal = isOver(session, signIn) ? null : await findPrincipal(session)
      if (principal === null) {
        request.session.delete()
        return
      }
      const isChange = !SAFE_METHODS.includes(request.method)
      if (isChange && !isProvenSameOrigin(request, publicOrigin)) {
        throw new ApiError('cross_origin_request')
      }
      request.principal = principal
      const now = Date.now()
      const isDue = now - session.seen_at_ms > signIn.idleMs / 10
      if (isDue) request.session.set({ ...session, seen_at_ms: now })
    })
    // The browser would open its own password dialog when the page notices that a session is over.
    app.addHook('onSend', (request, reply, _payload, done) => {
      const isOfPage = request.headers['sec-fetch-site'] === 'same-origin'
      if (isOfPage && !request.headers.authorization) reply.removeHeader('www-authenticate')
      done()
    })
  },
  { name: 'sessions' },
)

function isOver(session: PersonSession, { idleMs, lifeMs }: SignInSettings): boolean {
  const now = Date.now()
  return now - session.seen_at_ms > idleMs || now - session.started_at_us / 1000 > lifeMs
}

/**
 * Begins a session in the response to a request.
 *
 * @param begun - the time of the sign-in as it was stored, so that whatever ends sessions afterwards ends this one; the ID
 * token is that of the provider
 */
export function beginSession(
  request: FastifyRequest,
  { id, sessions_from_us }: Pick<Person, 'id' | 'sessions_from_us'>,
  { now_us, id_token = null }: { readonly now_us: number; readonly id_token?: string | null },
): void {
  request.session.set({
    person_id: id,
    started_at_us: Math.max(now_us, sessions_from_us + 1),
    seen_at_ms: Date.now(),
    id_token,
  })
  request.log.info({ person_id: id }, 'signed in')
}

/** Reads the secret of the data directory, which only its owner can read; generated the first time. */
function readSecretFile(dataDir: string): Buffer {
  if (dataDir === ':memory:') return randomBytes(32)
  const path = join(dataDir, SECRET_FILE)
  try {
    writeFileSync(path, randomBytes(32), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(path)
}
