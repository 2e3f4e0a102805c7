/** A listening app over models of the test's choice, and a reader of its event streams. */
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Config } from '../../src/config.ts'
import { createModelRegistry, type ModelRegistry } from '../../src/inference/models/registry.ts'
import { createOpenAiBackend } from '../../src/inference/openai/backend.ts'
import { type Engine, OTHER_TOOL_ENGINES } from '../../src/inference/openai/profiles.ts'
import type { UpstreamTimeouts } from '../../src/inference/openai/upstream/client.ts'
import {
  type RetryPolicy,
  SYSTEM_CLOCK,
  USUAL_RETRIES,
} from '../../src/inference/openai/upstream/targets.ts'
import type { ProxySettings } from '../../src/inference/openai/upstream/upstream-pool.ts'
import { buildTestApp, type TestApp } from './build-test-app.ts'

interface ModelServer extends TestApp {
  /** Ends in /v1. */
  readonly baseUrl: string
  /** POSTs a chat request over a socket. */
  chat(
    body: unknown,
    init?: { signal?: AbortSignal; headers?: Record<string, string> },
  ): Promise<Response>
}

export async function startModelServer(
  models: ModelRegistry,
  overrides: Partial<Config> = {},
): Promise<ModelServer> {
  const test = await buildTestApp(overrides, { models })
  onTestFinished(() => models.close())
  await test.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = test.app.server.address() as AddressInfo
  const baseUrl = `http://127.0.0.1:${port}/v1`
  return {
    ...test,
    baseUrl,
    chat: (body, { signal, headers } = {}) =>
      fetch(`${baseUrl}/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${test.key}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal ? { signal } : {}),
      }),
  }
}

/** Longer than any test: a request that ends was ended by something else. */
export const TIMEOUT_MS: UpstreamTimeouts = {
  connect: 60_000,
  first_byte: 60_000,
  idle: 60_000,
  total: 60_000,
}

/** One model that is relayed to one upstream or several; its retries hardly wait. */
export function upstreamModel(
  baseUrl: string | readonly string[],
  options: {
    apiKey?: string
    timeoutMs?: Partial<UpstreamTimeouts>
    id?: string
    upstreamModel?: string
    tools?: boolean
    engine?: Engine
    unsupported?: 'reject' | 'drop'
    ca?: string | null
    proxies?: ProxySettings | null
    retries?: RetryPolicy
  } = {},
): ModelRegistry {
  const id = options.id ?? 'org/relayed'
  const model = {
    id,
    aliases: ['short'],
    ownedBy: 'org',
    created: 1_700_000_000,
    capabilities: {
      tools: options.tools ?? true,
      prioritySchedulingEnabled: true,
      logitsProcessors: true,
      otherTools: OTHER_TOOL_ENGINES.includes(options.engine ?? 'generic'),
    },
    backend: createOpenAiBackend({
      upstreams: [baseUrl].flat().map((url) => ({
        baseUrl: url,
        apiKey: options.apiKey ?? null,
        ca: options.ca ?? null,
        proxies: options.proxies ?? null,
      })),
      engine: options.engine ?? 'generic',
      unsupported: options.unsupported ?? 'reject',
      callsTools: options.tools ?? true,
      retries: options.retries ?? USUAL_RETRIES,
      clock: { ...SYSTEM_CLOCK, random: () => 0.01 },
      timeoutMs: { ...TIMEOUT_MS, ...options.timeoutMs },
    }),
    backendModel: options.upstreamModel ?? id,
    fallbacks: [],
    upstreamCount: [baseUrl].flat().length,
  }
  return createModelRegistry([model], model)
}

/** The data of all events of an answer; keep-alive comments are left out. */
export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('data: '))
    .map((block) => block.slice(6))
}
