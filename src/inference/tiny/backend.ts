/**
 * The embedded backend: a very small llama-architecture model that ships with the server and runs in a
 * process of its own. It must never block the server's thread, nor exceed its limit of requests.
 */

import { randomBytes } from 'node:crypto'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../../errors.ts'
import type { CompletionCall, Delta, InferenceBackend } from '../backend.ts'
import { describeTiny } from './description.ts'
import { createAdapterFiles } from './host/adapter-files.ts'
import { createEngineLink, type EngineLink } from './host/engine-link.ts'
import type { ChunkOf, EnginePlan } from './host/engine-work.ts'
import { PLANS_BYTES_MAX, requirePlanBytes } from './host/plan-size.ts'
import { planCompletion } from './sampling/completion-plan.ts'
import { type Run as ServeRun, serveCall } from './services/serve.ts'

/** What a tiny backend needs to know. */
export interface TinyBackendOptions {
  /** A GGUF file: llama architecture, F32, F16 or Q8_0, gpt2 tokenizer. The shipped one by default. */
  readonly modelPath?: string
  /** Requests that may be running or waiting; one more is refused. */
  readonly queueMax: number
  /** Whether clients may send a chat_template. Off by default: a template is a program. */
  readonly allowsChatTemplate?: boolean
  /** Processor time of a client's template, or of the compilation of a grammar. Milliseconds; 500 by default. */
  readonly hazardCpuMsMax?: number
  /** Time of the processor that one request may take of the model. Milliseconds; 30,000 by default. */
  readonly requestCpuMsMax?: number
  /** Another script for the process. For tests of its crashes. */
  readonly entry?: URL
}

/** An inference backend whose model can be waited for. */
export interface TinyBackend extends InferenceBackend {
  /** Resolves when the model is loaded; rejects with the reason when it cannot be. */
  ready(): Promise<void>
}

/** The model that ships with the server. */
export const TINY_MODEL_PATH = fileURLToPath(new URL('./model/tiny.gguf', import.meta.url))
const RETRY_AFTER_S = 1
/** Limit: others wait so long at the most; fifty tools take a third of it. */
const HAZARD_CPU_MS_MAX = 500
/** Limit: some 50,000 tokens; 128 choices of a whole context would take minutes. */
const REQUEST_CPU_MS_MAX = 30_000

/**
 * A backend whose process starts at once; requests may come before it is ready. The caller must close it.
 *
 * Beyond the contract: throws internal_error when the process dies under a request, and server_draining once it is
 * closed. With a seed an answer depends on the request alone, whatever else runs.
 */
export function createTinyBackend(options: TinyBackendOptions): TinyBackend {
  const script =
    options.entry ?? new URL(`./host/engine-entry${extname(import.meta.url)}`, import.meta.url)
  const engineOptions = {
    modelPath: options.modelPath ?? TINY_MODEL_PATH,
    hazardCpuMsMax: options.hazardCpuMsMax ?? HAZARD_CPU_MS_MAX,
    requestCpuMsMax: options.requestCpuMsMax ?? REQUEST_CPU_MS_MAX,
  }
  const link = createEngineLink(script, engineOptions)
  /** A template may fill the memory of its process, so those of clients have one of their own. */
  let templates: EngineLink | null = null
  const adapters = createAdapterFiles()
  /** Of the plans that run or wait. */
  let plansBytes = 0

  async function* complete(
    call: CompletionCall,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<Delta, void, void> {
    signal.throwIfAborted()
    const { request, body, keyId = '' } = call
    const plan = planCompletion(request, body, drawSeed, call)
    yield* adapters.use(call.adapter, (adapterPath) =>
      runPlan({ ...plan, adapterPath }, keyId, signal),
    )
  }

  /** The messages of the process about a plan, until its end or an abort. */
  async function* runPlan<P extends EnginePlan>(
    plan: P,
    keyId: string,
    signal: AbortSignal,
  ): AsyncGenerator<ChunkOf<P>, void, void> {
    const bytes = requirePlanBytes(plan)
    const isFull = runningCount() >= options.queueMax
    if (isFull || plansBytes + bytes > PLANS_BYTES_MAX) {
      throw new ApiError('server_overloaded', { retryAfterS: RETRY_AFTER_S })
    }
    const run = chooseLink(plan).open(plan, keyId)
    plansBytes += bytes
    const abort = (): void => run.cancel(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    try {
      for (;;) {
        const delta = await run.next()
        signal.throwIfAborted()
        if (delta === null) return
        yield delta
      }
    } finally {
      signal.removeEventListener('abort', abort)
      run.cancel(null)
      plansBytes -= bytes
    }
  }

  function chooseLink(plan: EnginePlan): EngineLink {
    const isClients = 'prompt' in plan && 'template' in plan.prompt && plan.prompt.template !== null
    if (!isClients) return link
    templates ??= createEngineLink(script, engineOptions, templateTookTooMuch)
    return templates
  }

  function runningCount(): number {
    return link.runningCount() + (templates?.runningCount() ?? 0)
  }

  return {
    ...describeTiny(options.allowsChatTemplate ?? false),
    complete,
    async *serve(call, { signal }) {
      signal.throwIfAborted()
      const run: ServeRun = (plan) =>
        adapters.use(call.adapter, (adapterPath) =>
          runPlan({ ...plan, adapterPath }, call.keyId ?? '', signal),
        )
      yield* serveCall(call, { run, drawSeed, nowMs: Date.now })
    },
    ready: link.ready,
    async close() {
      await Promise.all([link.close(), templates?.close()])
      adapters.close()
    },
  }
}

function templateTookTooMuch(cause: unknown): ApiError {
  const message = 'chat_template takes more memory than the server gives it.'
  return new ApiError('invalid_value', { message, param: 'chat_template', cause })
}

/** 64 bits of the system's entropy. */
function drawSeed(): bigint {
  return randomBytes(8).readBigUInt64LE()
}
