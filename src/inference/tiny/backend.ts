/**
 * The embedded backend: a very small llama-architecture model that ships with the server and runs in
 * processes of its own. It must never block the server's thread, nor exceed its limit of requests.
 */
import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../../errors.ts'
import type { CompletionCall, Delta, InferenceBackend } from '../backend.ts'
import { findHazard } from './constraints/completion-hazard.ts'
import { describeTiny } from './description.ts'
import { createAdapterFiles } from './host/adapter-files.ts'
import { createEngineLink, type Run } from './host/engine-link.ts'
import type { EnginePlan, PieceOf } from './host/engine-work.ts'
import { createGuardedRuns } from './host/guarded-runs.ts'
import { PLANS_BYTES_MAX, requirePlanBytes } from './host/plan-size.ts'
import { createSharedLinks } from './host/shared-links.ts'
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
  /** Time of the processor that a template or grammar may take at a stretch. Milliseconds; 1,000 by default. */
  readonly hazardCpuMsMax?: number
  /** Time of the processor that one request may take of the model. Milliseconds; 30,000 by default. */
  readonly requestCpuMsMax?: number
  /** Another script for the processes. For tests of their crashes. */
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
/** Limit: each holds the model and the grammar engine, 100 MB. One of them is left to other keys. */
const GUARDED_PROCESSES_MAX = 3
const HAZARD_CPU_MS_MAX = 1_000
/** Limit: some 50,000 tokens; 128 choices of a whole context would take minutes. */
const REQUEST_CPU_MS_MAX = 30_000
/** Each holds the model; more than two would leave nothing of a small machine to the server. */
const SHARED_PROCESSES_MAX = Math.min(2, availableParallelism())

/**
 * A backend whose process starts at once; requests may come before it is ready. The caller must close it.
 *
 * Beyond the contract: throws internal_error when the process dies under a request, and server_draining once it is
 * closed. With a seed an answer depends on the request alone, whatever else runs.
 */
export function createTinyBackend(options: TinyBackendOptions): TinyBackend {
  const script = options.entry ?? new URL('./host/engine-entry.ts', import.meta.url)
  const engineOptions = {
    modelPath: options.modelPath ?? TINY_MODEL_PATH,
    hazardCpuMsMax: options.hazardCpuMsMax ?? HAZARD_CPU_MS_MAX,
    requestCpuMsMax: options.requestCpuMsMax ?? REQUEST_CPU_MS_MAX,
  }
  const startLink = () => createEngineLink(script, engineOptions)
  const link = createSharedLinks(startLink, SHARED_PROCESSES_MAX)
  const guarded = createGuardedRuns(startLink, GUARDED_PROCESSES_MAX)
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
  ): AsyncGenerator<PieceOf<P>, void, void> {
    const bytes = requirePlanBytes(plan)
    const isFull = link.runningCount() + guarded.runningCount() >= options.queueMax
    if (isFull || plansBytes + bytes > PLANS_BYTES_MAX) {
      throw new ApiError('server_overloaded', { retryAfterS: RETRY_AFTER_S })
    }
    const run = openRun(plan, keyId)
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

  /** Templates and grammars can hold a process up, so a plan with one gets a process of its own. */
  function openRun<P extends EnginePlan>(plan: P, keyId: string): Run<PieceOf<P>> {
    if ('kind' in plan || findHazard(plan) === null) return link.open(plan)
    return guarded.open(plan, keyId) as Run<PieceOf<P>>
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
      await Promise.all([link.close(), guarded.close()])
      adapters.close()
    },
  }
}

/** 64 bits of the system's entropy. */
function drawSeed(): bigint {
  return randomBytes(8).readBigUInt64LE()
}
