/**
 * Spans of Langfuse's SDKs have one input, one output and one usage, each as JSON, whatever the kind of step. Pure.
 *
 * Spec: none, an addition. Choice: only what a generation was sent and answered becomes messages.
 */
import { isObject } from '../../json/is-object.ts'
import type { Tree } from '../attribute-tree.ts'
import { isResponseItem } from './response-items.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Rewrites the observation in the tree of a span to what the table of the dialect names: `messages`, `tools` and
 * `answer` in place of the input and the output of a generation, and `usage` in place of `usage_details`.
 *
 * @param parse - of a text that may be JSON
 */
export function spreadObservation(tree: Tree, parse: (text: unknown) => unknown): void {
  const { langfuse } = tree
  if (!isObject(langfuse) || !isObject(langfuse.observation)) return
  const { input, output, usage_details, ...fields }: Json = langfuse.observation
  const isGeneration = fields.type === 'generation'
  const usage = parse(usage_details)
  const observation = {
    ...fields,
    ...(isGeneration ? sentFields(parse(input)) : { input }),
    ...(isGeneration ? answerFields(parse(output)) : { output }),
    ...(isObject(usage) ? { usage: present(toUsage(usage)) } : { usage_details }),
  }
  tree.langfuse = { ...langfuse, observation: present(observation) }
}

function present(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Messages alone, or beside tools, or a prompt. */
function sentFields(input: unknown): Json {
  if (typeof input === 'string' || isMessages(input)) return { messages: input }
  if (!isObject(input)) return { input }
  const { messages = input.input, tools, functions } = input
  if (typeof messages !== 'string' && !isMessages(messages)) return { input }
  return { messages, tools: tools ?? functions }
}

function answerFields(output: unknown): Json {
  const isAnswer = typeof output === 'string' || isResponseItem(output) || isMessages(output)
  return isAnswer ? { answer: output } : { output }
}

function isMessages(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isResponseItem)
}

/**
 * Returns counts in which input and output hold their details, as in the names of OpenAI. In Langfuse's own names the
 * details stand beside them, unless the total says otherwise.
 */
function toUsage(usage: Json): Json {
  const { input, output, total } = usage
  if (input === undefined && output === undefined) return openAiUsage(usage)
  const isWithin = total !== undefined && total === toNumber(input) + toNumber(output)
  const sum = (own: unknown, details: RegExp) =>
    Object.entries(usage)
      .filter(([name]) => !isWithin && details.test(name))
      .reduce((tokens, [, count]) => tokens + toNumber(count), toNumber(own))
  const first = (...names: readonly string[]) => names.map((name) => usage[name]).find(isCount)
  return {
    input: sum(input, /^input_|_input_/),
    output: sum(output, /^output_/),
    total,
    cache_read: first('input_cache_read', 'input_cached_tokens', 'cache_read_input_tokens'),
    cache_write: first(
      'input_cache_creation',
      'input_cache_write_tokens',
      'cache_creation_input_tokens',
    ),
    reasoning: first('output_reasoning', 'output_reasoning_tokens'),
  }
}

function openAiUsage(usage: Json): Json {
  const inputDetails = usage.prompt_tokens_details ?? usage.input_tokens_details
  const outputDetails = usage.completion_tokens_details ?? usage.output_tokens_details
  return {
    input: usage.prompt_tokens ?? usage.input_tokens,
    output: usage.completion_tokens ?? usage.output_tokens,
    total: usage.total_tokens,
    cache_read: isObject(inputDetails) ? inputDetails.cached_tokens : undefined,
    cache_write: isObject(inputDetails) ? inputDetails.cache_write_tokens : undefined,
    reasoning: isObject(outputDetails) ? outputDetails.reasoning_tokens : undefined,
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number'
}

function toNumber(value: unknown): number {
  return isCount(value) ? value : 0
}
