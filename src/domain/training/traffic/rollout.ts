/** A recorded chat completion as part of a trajectory. Pure. */
import type { ExclusionReason } from '../../../schemas/training/trajectory-from-calls.ts'
import { callField, type ScannedCall } from '../../calls/call-fields.ts'
import { isObject } from '../../json/is-object.ts'
import { isGiven, textOrNull } from '../../json/json-values.ts'
import { parseTrainedModelName } from '../../models/trained-model-name.ts'

type Item = Readonly<Record<string, unknown>>

/** The messages of one completion, the response last. */
export interface ChatHistory {
  readonly messages_and_choices: readonly Item[]
  readonly tools: unknown
}

/** The completion of a call. */
interface Chat {
  readonly history: ChatHistory
  readonly policy: Policy | null
}

/** Which completions are taken. */
export interface RolloutRules {
  /** Names of models; that of a trained one stands for all its steps. Null: any. */
  readonly models: readonly string[] | null
  /** Whether responses that ended at their token limit are taken. */
  readonly takesTruncated: boolean
}

/** The step of a trained model. */
export interface Policy {
  readonly name: string
  readonly step: number
}

/**
 * The completion that a call recorded: inputs as the request, output as the response of a chat.
 *
 * Spec: §2.12 messages_and_choices, initial_policy_version.
 * Choice: calls of tracing SDKs around OpenAI clients have the same shape and count as well. Feedback is
 * about a call, so that one with several choices does not tell which of them it means.
 */
export function readChat(scanned: ScannedCall, rules: RolloutRules): Chat | ExclusionReason {
  const messages = callField(scanned, ['inputs', 'messages'])
  const choices = callField(scanned, ['output', 'choices'])
  if (!isItems(messages) || !isItems(choices) || choices.length === 0) return 'no_chat'
  if (choices.length > 1) return 'several_choices'
  const [choice = {}] = choices
  if (typeof choice.finish_reason !== 'string') return 'unfinished'
  const model = modelOf(scanned)
  if (rules.models !== null && !isOneOf(model, rules.models)) return 'other_model'
  if (isRedacted(scanned)) return 'redacted'
  if (!rules.takesTruncated && choice.finish_reason === 'length') return 'truncated'
  const promptIds = callField(scanned, ['output', 'prompt_token_ids'])
  const told = { index: 0, ...choice }
  const answer = Array.isArray(promptIds) ? { prompt_token_ids: promptIds, ...told } : told
  return {
    history: {
      messages_and_choices: [...messages, answer],
      tools: callField(scanned, ['inputs', 'tools']) ?? null,
    },
    policy: readPolicy(model),
  }
}

/** Returns the model that responded, which the server's own records name and others have in the output. */
function modelOf(scanned: ScannedCall): string | null {
  const names = [
    ['attributes', 'model'],
    ['output', 'model'],
    ['inputs', 'model'],
  ]
  return names.map((path) => textOrNull(callField(scanned, path))).find(isGiven) ?? null
}

/** Null: it was no step. */
function readPolicy(model: string | null): Policy | null {
  const { name = '', step = null } = (model === null ? null : parseTrainedModelName(model)) ?? {}
  return step === null ? null : { name, step }
}

function isOneOf(model: string | null, names: readonly string[]): boolean {
  if (model === null) return false
  return names.includes(model) || names.includes(readPolicy(model)?.name ?? model)
}

/** Whether something in a call was redacted, which then has a mark. */
function isRedacted(scanned: ScannedCall): boolean {
  const marks = [
    callField(scanned, ['attributes', 'redacted']),
    callField(scanned, ['summary', 'redacted']),
  ]
  return marks.some(isObject)
}

function isItems(value: unknown): value is Item[] {
  return Array.isArray(value) && value.every(isObject)
}
