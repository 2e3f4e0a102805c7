/**
 * Sessions of people in a sealed cookie. A request that has one and no key gets the person as its principal, on all
 * routes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import secureSession from '@fastify/secure-session'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Principal } from '../../domain/access/permissions.ts'
import type { Person } from '../../domain/access/roles.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../app-type.ts'
import { isProvenSameOrigin, SAFE_METHODS } from '../cross-origin.ts'
import type { ProviderSettings, SignInChecks } from './identity-provider.ts'

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

declare module '@fastify/secure-session' {
  interface SessionData {
    readonly of: PersonSession | undefined
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** A sign-in that has begun. */
    pending: secureSession.Session<{ readonly of: PendingSignIn | undefined }>
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
    const cookie = { path: '/', httpOnly: true, secure } as const
    const expiry = Math.ceil(lifeMs / 1000)
    await app.register(secureSession, [
      {
        sessionName: 'session',
        cookieName: `${prefix}weft_session`,
        key,
        expiry,
        cookie: { ...cookie, sameSite: 'strict', maxAge: expiry },
      },
      {
        sessionName: 'pending',
        cookieName: `${prefix}weft_sign_in`,
        key: createHash('sha256').update(key).digest(),
        expiry: SIGN_IN_S_MAX,
        // The provider sends the browser back from another site.
        cookie: { ...cookie, sameSite: 'lax', maxAge: SIGN_IN_S_MAX },
      },
    ])
    app.addHook('onRequest', async (request) => {
      const session = request.session.get('of')
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
      if (isDue) request.session.set('of', { ...session, seen_at_ms: now })
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
  // Otherwise its age would be that of the session before.
  request.session.regenerate()
  request.session.set('of', {
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
