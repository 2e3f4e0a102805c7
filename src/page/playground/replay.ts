/** Prepares a recorded call for replay. */
import { requestJson, requestLines } from '../api/client.ts'
import type { Call } from '../api/wire.ts'
import { type Message, promptOf, responseMessagesOf } from '../parts/messages/messages.ts'
import { type Parameter, type Texts, textOfValue } from './parameters.ts'

export interface Recorded {
  readonly id: string
  readonly model: string
  /** Whether the model is served here. */
  readonly isServed: boolean
  readonly messages: readonly Message[]
  /** The recorded answer. */
  readonly answers: readonly Message[]
  readonly inputs: Readonly<Record<string, unknown>>
}

/** @throws Error when there is no such call, or it has no messages */
export async function readRecorded(
  project_id: string,
  id: string,
  signal: AbortSignal,
): Promise<Recorded> {
  const body = { project_id, filter: { call_ids: [id] } }
  for await (const { inputs, output } of requestLines<Call>('/calls/stream_query', body, {
    signal,
  })) {
    const messages = promptOf(inputs)
    if (messages.length === 0) throw new Error('The call has no messages to replay.')
    const model = typeof inputs.model === 'string' ? inputs.model : ''
    const isServed = model !== '' && (await isModelServed(model, signal))
    return { id, model, isServed, messages, answers: responseMessagesOf(output), inputs }
  }
  throw new Error('There is no such call; it may have been deleted.')
}

/** Aliases and steps of trained models are listed, too. */
async function isModelServed(model: string, signal: AbortSignal): Promise<boolean> {
  const { data } = await requestJson<{ data: { id: string }[] }>('/v1/models', undefined, {
    signal,
  })
  return data.some(({ id }) => id === model)
}

/** The parameters that a recorded call was made with, as the form has them. */
export function textsOf({ inputs }: Recorded, parameters: readonly Parameter[]): Texts {
  // A parameter recorded under its old name is sent under the new one.
  const values = { max_completion_tokens: inputs.max_tokens, ...inputs }
  const texts = parameters.map(({ name, kind }) => {
    const value = (values as Record<string, unknown>)[name]
    return [name, textOfValue(value, kind)] as const
  })
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}
