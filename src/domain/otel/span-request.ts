/** Reads the models and the settings of a span's request. Pure. */
import { isObject } from '../json/is-object.ts'
import type { SpanReader } from './span-reader.ts'

/** Limit: characters of the model by which usage is counted; longer ones are cut. */
const MODEL_NAME_MAX = 256

export interface SpanRequest {
  readonly requested: string | null
  readonly answering: string | null
  readonly settings: Record<string, unknown>
}

/**
 * The models and the settings of a request.
 *
 * Spec: none, an addition. Choice: inputs have the model that was asked for, and usage is that of the model that
 * answered, which may have a price of its own. Where only one is named, it counts as both. A gateway answers with the
 * alias that it was asked for; the model behind it counts.
 *
 * @param provider - of the model; null: not known
 */
export function readRequest(reader: SpanReader, provider: string | null): SpanRequest {
  const parameters = withoutResponse(reader.take('parameters')?.value)
  const { model, choice, ...settings }: Record<string, unknown> = isObject(parameters)
    ? parameters
    : {}
  const setting = typeof model === 'string' && model !== '' ? model : null
  const asked = reader.takeText('requestedModel') ?? setting
  const named = reader.takeText('model')
  const routed = reader.takeText('routedModel')
  const isAlias = routed !== null && routed !== named && !routed.endsWith(`/${named}`)
  const answered = isAlias ? withoutProvider(routed, provider) : named
  return {
    requested: asked ?? answered,
    answering: (answered ?? asked)?.slice(0, MODEL_NAME_MAX) ?? null,
    settings: { ...setOnes(settings), ...choiceFields(choice) },
  }
}

function withoutProvider(model: string, provider: string | null): string {
  const prefix = `${provider}/`
  return model.startsWith(prefix) ? model.slice(prefix.length) : model
}

/** What OpenAI's Responses have beside the settings of their request, which openinference-openai-agents sends as one. */
const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'error',
  'incomplete_details',
  'output',
  'usage',
  'tools',
  'instructions',
])

function withoutResponse(parameters: unknown): unknown {
  if (!isObject(parameters) || parameters.object !== 'response') return parameters
  const settings = Object.entries(parameters).filter(
    ([name, value]) => value !== null && !RESPONSE_FIELDS.has(name),
  )
  return Object.fromEntries(settings)
}

/** Without what Ax writes for a setting that has no value, and AgentScope's numbers of messages and tools. */
function setOnes(settings: Record<string, unknown>): Record<string, unknown> {
  const isSet = ([name, value]: [string, unknown]) =>
    value !== 'Not set' && !(COUNTED.has(name) && isObject(value))
  return Object.fromEntries(Object.entries(settings).filter(isSet))
}

/** Inputs that are lists. */
const COUNTED: ReadonlySet<string> = new Set(['messages', 'tools'])

/** The conventions name the number of choices `choice.count`, and chat requests name it `n`. */
function choiceFields(choice: unknown): Record<string, unknown> {
  if (choice === undefined) return {}
  return isObject(choice) && choice.count !== undefined ? { n: choice.count } : { choice }
}
