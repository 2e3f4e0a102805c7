/** A backend that plays a script: deltas, pauses and failures in the order given. */
import type { FieldSupport } from '../../src/domain/chat/chat-rules.ts'
import type {
  ChoiceDelta,
  CompletionCall,
  Delta,
  InferenceBackend,
  TokenLogprob,
} from '../../src/inference/backend.ts'
import { createModelRegistry, type ServedModel } from '../../src/inference/models/registry.ts'
import { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

/** A delta to yield, an error to throw, or a promise to wait for; an abort ends the wait. */
export type Step = Delta | Error | Promise<unknown>

export interface ScriptedBackend extends InferenceBackend {
  /** Completions asked for, oldest first. */
  readonly calls: CompletionCall[]
  /** How many completions are between their start and their end. */
  runningCount(): number
  /** Resolves when a completion saw its signal abort, with the reason. */
  readonly aborted: Promise<unknown>
  /** How many deltas were asked for so far. */
  pulledCount(): number
  closedCount(): number
}

export function createScriptedBackend(
  script: readonly Step[] | ((call: CompletionCall) => Iterable<Step>),
  fields: Partial<FieldSupport> = {},
): ScriptedBackend {
  const calls: CompletionCall[] = []
  const { promise: aborted, resolve: noteAbort } = Promise.withResolvers<unknown>()
  let running = 0
  let pulled = 0
  let closed = 0
  async function* complete(call: CompletionCall, { signal }: { signal: AbortSignal }) {
    calls.push(call)
    running += 1
    const onAbort = () => noteAbort(signal.reason)
    signal.addEventListener('abort', onAbort)
    try {
      for (const step of typeof script === 'function' ? script(call) : script) {
        signal.throwIfAborted()
        if (step instanceof Error) throw step
        if (step instanceof Promise) await untilAborted(step, signal)
        else {
          pulled += 1
          yield step
        }
      }
      signal.throwIfAborted()
    } finally {
      running -= 1
      signal.removeEventListener('abort', onAbort)
    }
  }
  return {
    kind: 'scripted',
    fields: { ...ALL_HONOURED, ...fields },
    complete,
    async close() {
      closed += 1
    },
    calls,
    aborted,
    runningCount: () => running,
    pulledCount: () => pulled,
    closedCount: () => closed,
  }
}

const ALL_HONOURED = Object.fromEntries(
  Object.keys(ChatCompletionRequest.shape).map((name) => [name, 'honoured']),
) as FieldSupport

function untilAborted(wait: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    wait.then(resolve, reject)
  })
}

export const NEVER = new Promise<never>(() => {})

export function prompt(promptTokens = 3, cachedTokens = 0): Delta {
  return { type: 'prompt', promptTokens, cachedTokens }
}

export function piece(content: string, more: Partial<ChoiceDelta> = {}): ChoiceDelta {
  return {
    type: 'choice',
    index: 0,
    content,
    tokenCount: 1,
    logprobs: null,
    finish_reason: null,
    stop_reason: null,
    ...more,
  }
}

export function finish(more: Partial<ChoiceDelta> = {}): ChoiceDelta {
  return piece('', { tokenCount: 0, finish_reason: 'stop', ...more })
}

export function logprob(token: string, value: number): TokenLogprob {
  return { token, logprob: value, bytes: [...Buffer.from(token)], top_logprobs: [] }
}

/** A short answer. */
export const HELLO: readonly Step[] = [prompt(), piece('Hel'), piece('lo'), finish()]

/** A registry of models over scripted backends; the first is the default. */
export function scriptedModels(
  ...models: (Partial<ServedModel> & { readonly backend: InferenceBackend })[]
) {
  const served = models.map(
    (model, index): ServedModel => ({
      id: index === 0 ? 'scripted' : `scripted-${index}`,
      aliases: [],
      ownedBy: 'tests',
      created: 1_700_000_000,
      capabilities: { tools: false, prioritySchedulingEnabled: false },
      backendModel: 'backend-name',
      fallbacks: [],
      ...model,
    }),
  )
  return createModelRegistry(served, served[0]!)
}
