/** An app over a database of its own, closed by itself when the test ends. */
import { onTestFinished } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { type Deps, openDeps } from '../../src/deps.ts'
import type { Scope } from '../../src/domain/access/permissions.ts'
import type { App } from '../../src/http/app-type.ts'
import { SCOPES } from '../../src/schemas/access/key.ts'
import { type LentApp, lendApp } from './lent-app.ts'

export interface TestApp {
  readonly app: App
  readonly deps: Deps
  readonly config: Config
  /** A key with all scopes on all projects. */
  readonly key: string
  /** Makes a key with these rights. */
  createKey(rights: { scopes?: readonly Scope[]; projects?: readonly string[] }): Promise<string>
  /** POSTs JSON; Basic on the trace routes, Bearer below /v1. */
  post(url: string, body: unknown, options?: RequestOptions): Promise<TestResponse>
  get(url: string, options?: RequestOptions): Promise<TestResponse>
  put(url: string, body: unknown, options?: RequestOptions): Promise<TestResponse>
  patch(url: string, body: unknown, options?: RequestOptions): Promise<TestResponse>
  delete(url: string, options?: RequestOptions & { readonly body?: unknown }): Promise<TestResponse>
}

export interface RequestOptions {
  /** Default: the key with all rights; null sends no credentials. */
  readonly key?: string | null
  readonly headers?: Record<string, string>
}

export interface TestResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any
  readonly text: string
  readonly headers: Record<string, string | string[] | number | undefined>
}

/** The Authorization header that a route takes. */
export function authorizationFor(url: string, key: string): string {
  return url.startsWith('/v1') ? `Bearer ${key}` : basic(key)
}

export function basic(key: string, user = 'api'): string {
  return `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`
}

/**
 * Settings that dependencies are opened by, and that no app looks at: below `dataDir` it keeps only the bodies of training
 * jobs until they are read. Tests of those set `readThreads` too, and so have an app of their own.
 */
const OF_DEPS: readonly string[] = [
  'store',
  'clickhouse',
  'dataDir',
  'statsThreads',
  'readQueueMax',
  'readTimeoutMs',
]

async function ownApp(config: Config, deps: Deps): Promise<LentApp> {
  const app = await buildApp(config, deps)
  return { app, giveBack: () => app.close() }
}

let lentModels: Promise<Pick<Deps, 'models'>> | null = null

/**
 * The models of the default settings, for all tests of this process: to start the built-in one takes 0.2 s of CPU time. They
 * are never closed, and end with the process.
 */
async function lendModels(config: Config): Promise<Pick<Deps, 'models'>> {
  lentModels ??= openDeps({ ...config, store: 'sqlite', dataDir: ':memory:' }).then(
    ({ models }) => ({ models }),
  )
  return await lentModels
}

/**
 * @param overrides - settings that differ from the defaults
 * @param replaced - dependencies put in the place of the opened ones; the caller closes them
 */
export async function buildTestApp(
  overrides: Partial<Config> = {},
  replaced: Partial<Deps> = {},
): Promise<TestApp> {
  const config: Config = {
    ...readConfig({}),
    dataDir: ':memory:',
    drainTimeoutMs: 50,
    ...overrides,
  }
  const opened = await openDeps(config)
  const isAsAll = Object.keys(overrides).every((name) => OF_DEPS.includes(name))
  const deps: Deps = { ...opened, ...(isAsAll ? await lendModels(config) : {}), ...replaced }
  const { app, giveBack } = isAsAll ? await lendApp(config, deps) : await ownApp(config, deps)
  onTestFinished(async () => {
    await giveBack()
    await deps.close()
  })
  const createKey: TestApp['createKey'] = async ({ scopes = SCOPES, projects = ['*'] }) => {
    const rights = { svc_user_id: 'u-1', svc_username: 'User One', scopes, projects }
    return (await deps.keys.createKey(rights)).secret
  }
  const key = await createKey({})

  async function send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body: unknown,
    { key: chosen = key, headers = {} }: RequestOptions = {},
  ): Promise<TestResponse> {
    const hasBody = body !== undefined
    const response = await app.inject({
      method,
      url,
      headers: {
        ...(chosen === null ? {} : { authorization: authorizationFor(url, chosen) }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(hasBody ? { payload: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    })
    const isJson = /^application\/json(?:;|$)/.test(String(response.headers['content-type']))
    return {
      status: response.statusCode,
      body: isJson ? response.json() : null,
      text: response.body,
      headers: response.headers,
    }
  }

  return {
    app,
    deps,
    config,
    key,
    createKey,
    post: (url, body, options) => send('POST', url, body, options),
    get: (url, options) => send('GET', url, undefined, options),
    put: (url, body, options) => send('PUT', url, body, options),
    patch: (url, body, options) => send('PATCH', url, body, options),
    delete: (url, options) => send('DELETE', url, options?.body, options),
  }
}
