/**
 * llama-server reports the usage of each choice of a stream on its own, and of a whole answer only that of the first
 * choice. So several choices are always requested as a stream, whose usages are added up here. Pure.
 */
import { findUsage, readTokens } from '../../domain/chat/engine-dialects.ts'
import { isObject } from '../../domain/json/is-object.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../domain/json/json-limits.ts'
import { ApiError } from '../../errors.ts'
import type { RelayedText } from '../backend.ts'
import { createMergedMembers } from '../chat/record/merged-members.ts'
import type { EventRules } from './event-rules.ts'
import { editMembers } from './request.ts'
import { responseTooLarge } from './upstream/errors.ts'

/** Limit: characters of the events of one answer. */
const EVENTS_CHARS_MAX = 64 * 1024 * 1024

type Fields = Readonly<Record<string, unknown>>

/**
 * Adds the usages of the choices up in the events of a stream: each usage becomes the sum so far.
 *
 * @param rules - for the events; a chunk that carries only a usage is hidden until it is that of the last choice
 * @param choicesPerPrompt - a prompt is counted once, however many choices it has
 * @param choiceCount - of all prompts
 */
export function addUsagesUp(
  rules: EventRules,
  choicesPerPrompt: number,
  choiceCount: number,
): EventRules {
  const sum = { prompt: 0, completion: 0, cached: 0 }
  let reportedCount = 0
  return {
    ...rules,
    note(event) {
      const isHidden = rules.note(event)
      const usage = findUsage(event)
      if (usage === null) return isHidden
      const [choice] = Array.isArray(event.choices) ? event.choices : []
      const index = isObject(choice) ? Number(choice.index) : reportedCount
      reportedCount += 1
      const { prompt, output } = readTokens(usage)
      sum.completion += output
      if (index % choicesPerPrompt === 0) {
        sum.prompt += prompt
        const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
        sum.cached += Number(details.cached_tokens ?? 0) || 0
      }
      return isHidden || (choice === undefined && reportedCount < choiceCount)
    },
    rewrite(json, event) {
      if (findUsage(event) === null) return json
      const usage = {
        completion_tokens: sum.completion,
        prompt_tokens: sum.prompt,
        total_tokens: sum.prompt + sum.completion,
        prompt_tokens_details: { cached_tokens: sum.cached },
      }
      return editMembers(json, { set: new Map([['usage', JSON.stringify(usage)]]) })
    },
  }
}

interface AssembledChoice {
  text: string | null
  readonly message: ReturnType<typeof createMergedMembers>
  /** Of the text, and of a refusal. */
  readonly logprobs: { content: unknown[]; refusal: unknown[] | null }
  readonly tokenIds: unknown[]
  /** The members without a rule of their own. */
  readonly others: ReturnType<typeof createMergedMembers>
  finish_reason: unknown
  stop_reason: unknown
}

/** Members of a choice that have rules of their own. */
const CHOICE_MEMBERS = new Set([
  'index',
  'text',
  'delta',
  'logprobs',
  'token_ids',
  'finish_reason',
  'stop_reason',
])

/** Everything is kept: the size of the events is limited. */
const UNLIMITED = { take: (text: string) => text, spend: () => true }

/** Assembles the whole answer to a chat or a legacy completion from the events of a stream. */
export function createResponseAssembly() {
  const choices = new Map<number, AssembledChoice>()
  let head: Fields = {}
  let usage: Fields | null = null
  let charCount = 0

  function open(index: number): AssembledChoice {
    const merged = (mode: 'increments' | 'states', except: ReadonlySet<string>) =>
      createMergedMembers({ mode, except, budget: UNLIMITED })
    const choice = {
      text: null,
      message: merged('increments', new Set()),
      others: merged('states', CHOICE_MEMBERS),
      logprobs: { content: [], refusal: null },
      tokenIds: [],
      finish_reason: null,
      stop_reason: null,
    }
    choices.set(index, choice)
    return choice
  }

  function addChoice(added: Fields): void {
    const { index, text, delta, logprobs, token_ids, finish_reason, stop_reason } = added
    const place = typeof index === 'number' ? index : 0
    const choice = choices.get(place) ?? open(place)
    if (typeof text === 'string') choice.text = (choice.text ?? '') + text
    if (isObject(delta)) choice.message.add(delta)
    if (isObject(logprobs)) addLogprobs(choice.logprobs, logprobs)
    if (Array.isArray(token_ids)) for (const id of token_ids) choice.tokenIds.push(id)
    choice.others.add(added)
    choice.finish_reason ??= finish_reason
    choice.stop_reason ??= stop_reason
  }

  return {
    /** @throws ApiError upstream_invalid_response for events that are too large or nest too deeply */
    add({ json, value }: RelayedText): void {
      charCount += json.length
      if (charCount > EVENTS_CHARS_MAX) throw responseTooLarge()
      if (exceedsDepth(json, JSON_DEPTH_MAX)) throw new ApiError('upstream_invalid_response')
      const { choices: added, usage: reported, object, obfuscation, ...others } = value
      head = { ...head, ...others }
      if (isObject(reported)) usage = reported
      for (const choice of Array.isArray(added) ? added : [])
        if (isObject(choice)) addChoice(choice)
    },
    /** Returns the answer, its choices ordered by index. */
    render(): RelayedText {
      const sorted = [...choices].sort(([left], [right]) => left - right)
      const isChat = sorted.some(([, { text }]) => text === null)
      const value = {
        ...head,
        object: isChat ? 'chat.completion' : 'text_completion',
        choices: sorted.map(renderChoice),
        ...(usage === null ? {} : { usage }),
      }
      return { json: JSON.stringify(value), value }
    },
  }
}

function renderChoice([index, choice]: [number, AssembledChoice]) {
  const { text, message, others, logprobs, tokenIds, finish_reason, stop_reason } = choice
  const { tool_calls, ...members } = message.render()
  const calls = Array.isArray(tool_calls)
    ? { tool_calls: tool_calls.map(({ index: _index, ...call }) => call) }
    : {}
  return {
    index,
    ...(text === null ? { message: { content: null, ...members, ...calls } } : { text }),
    logprobs: logprobs.content.length > 0 || logprobs.refusal ? renderLogprobs(logprobs) : null,
    ...(tokenIds.length > 0 ? { token_ids: tokenIds } : {}),
    ...others.render(),
    finish_reason,
    ...(stop_reason === null || stop_reason === undefined ? {} : { stop_reason }),
  }
}

function addLogprobs(known: AssembledChoice['logprobs'], { content, refusal }: Fields): void {
  if (Array.isArray(content)) for (const token of content) known.content.push(token)
  if (!Array.isArray(refusal)) return
  known.refusal ??= []
  for (const token of refusal) known.refusal.push(token)
}

function renderLogprobs({ content, refusal }: AssembledChoice['logprobs']) {
  return refusal === null ? { content } : { content: content.length > 0 ? content : null, refusal }
}
