/** Plans of prompts, and whole generations run without a thread. For tests. */
import type { ChoiceDelta, Delta } from '../../src/inference/backend.ts'
import type { Engine } from '../../src/inference/tiny/host/engine.ts'
import { createKvCache } from '../../src/inference/tiny/model/kv-cache.ts'
import type { Part, PassLogits } from '../../src/inference/tiny/model/transformer.ts'
import { type ChatPlan, planCompletion } from '../../src/inference/tiny/sampling/completion-plan.ts'
import { createGeneration } from '../../src/inference/tiny/sampling/generation.ts'
import type { Generation } from '../../src/inference/tiny/sampling/steps.ts'
import type { PromptMessage, PromptPlan } from '../../src/inference/tiny/text/chat-prompt.ts'
import type { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

export type Fields = Partial<ChatCompletionRequest>

/** A prompt of the messages and nothing else. */
export function promptOf(
  messages: readonly PromptMessage[],
  more: Partial<PromptPlan> = {},
): PromptPlan {
  return {
    messages,
    tools: null,
    documents: null,
    variables: {},
    addGenerationPrompt: true,
    continueFinalMessage: false,
    addSpecialTokens: false,
    template: null,
    tokensKept: null,
    ...more,
  }
}

export function begin(engine: Engine, fields: Fields): Generation {
  return createGeneration(engine, planOf(fields))
}

/** The plan of a request that asks for no more than the fields. */
export function planOf(fields: Fields): ChatPlan {
  const request = { messages: [{ role: 'user', content: 'Hi' }], seed: 1, ...fields }
  return planCompletion(request, JSON.stringify(request), () => 0n)
}

/**
 * The engine with a model that knows of a prompt its last tokens, and of its own answer the last one. For tests of what
 * holds whatever a model wants: it wants as much as the real one, and computes each of its wishes once.
 */
export function withShortMemory(engine: Engine): Engine {
  const { shape, transformer } = engine
  const known = new Map<string, Float32Array[]>()
  return {
    ...engine,
    transformer: {
      run: (parts) =>
        parts.map((part) => {
          part.cache.reserve(part.ids.length)
          part.cache.length += part.ids.length
          const key = `${part.wants} ${part.ids}`
          const logits = known.get(key) ?? logitsOf({ ...part, cache: createKvCache(shape) })
          known.set(key, logits)
          return logits.map((one) => one.slice())
        }),
    },
  }

  function logitsOf(part: Part): Float32Array[] {
    const [logits = []] = transformer.run([part])
    return logits.map((one) => one.slice())
  }
}

/** Does one step with what the last one asked for; `asked` is null at first and at the end. */
export function advance(
  engine: Engine,
  generation: Generation,
  asked: Parameters<Engine['transformer']['run']>[0] | null,
) {
  const logits: PassLogits =
    asked === null || asked.length === 0 ? [] : engine.transformer.run(asked)
  const { done, value } = generation.next(logits)
  return done ? { deltas: value, asked: null } : { deltas: value.deltas, asked: value.parts }
}

/** All deltas of a request. */
export function run(engine: Engine, fields: Fields): Delta[] {
  const generation = begin(engine, fields)
  const deltas: Delta[] = []
  let asked: ReturnType<typeof advance>['asked'] = null
  do {
    const step = advance(engine, generation, asked)
    deltas.push(...step.deltas)
    asked = step.asked
  } while (asked !== null)
  return deltas
}

/** All deltas of a request that has to wait for a grammar now and then. */
export async function runWaiting(engine: Engine, fields: Fields): Promise<Delta[]> {
  const generation = begin(engine, fields)
  const deltas: Delta[] = []
  let asked: ReturnType<typeof advance>['asked'] = null
  do {
    const step = advance(engine, generation, asked)
    deltas.push(...step.deltas)
    asked = step.asked
    if (asked?.length === 0) await new Promise(setImmediate)
  } while (asked !== null)
  return deltas
}

/** What a request's deltas make of one choice. */
export function choiceOf(engine: Engine, fields: Fields, index = 0) {
  return choiceIn(run(engine, fields), index)
}

/** One choice among deltas. */
export function choiceIn(deltas: readonly Delta[], index = 0) {
  const pieces = deltas.filter(
    (delta): delta is ChoiceDelta => delta.type === 'choice' && delta.index === index,
  )
  const { finish_reason, stop_reason } = pieces.at(-1)!
  return {
    pieces,
    text: pieces.map(({ content }) => content).join(''),
    reasoning: pieces.map(({ reasoning = '' }) => reasoning).join(''),
    tokens: pieces.reduce((sum, { tokenCount }) => sum + tokenCount, 0),
    calls: callsIn(pieces),
    ids: pieces.flatMap(({ tokenIds }) => tokenIds ?? []),
    logprobs: pieces.flatMap(({ logprobs }) => logprobs ?? []),
    finish_reason,
    stop_reason,
  }
}

/** The tool calls of pieces, added up. */
function callsIn(pieces: readonly ChoiceDelta[]) {
  const calls: { id: string | undefined; name: string | undefined; arguments: string }[] = []
  for (const { index, id, name, arguments: text } of pieces.flatMap((one) => one.toolCalls ?? [])) {
    const call = calls[index]
    if (call === undefined) calls[index] = { id, name, arguments: text }
    else call.arguments += text
  }
  return calls
}
