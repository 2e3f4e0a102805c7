/** Asks one model, and updates its pane as the answer arrives. */
import { errorText } from '../api/client.ts'
import type { Message } from '../parts/messages/messages.ts'
import { withoutVariables } from '../prompts/prompt-draft.ts'
import { addChunk, messageOf, NO_COMPLETION } from './completion.ts'
import type { PaneState } from './pane.ts'
import { streamCompletion, streamPrompt } from './stream.ts'

/** A prompt as it is requested. */
export interface RequestedPrompt {
  /** Ref of its version; null: it was changed, and its messages are sent. */
  readonly ref: string | null
  readonly messages: readonly Message[]
  /** By the name of the variable. */
  readonly values: Readonly<Record<string, string>>
}

/** Variables are filled in in the prompt, not in what follows it. */
function toInputs({ ref, messages, values }: RequestedPrompt, said: readonly Message[]): object {
  return {
    ...(ref === null ? {} : { prompt: ref }),
    messages: [...(ref === null ? messages : []), ...said.map(withoutVariables)],
    template_vars: values,
  }
}

interface Run {
  readonly project: string
  /** Null sends no system message. */
  readonly system: string | null
  /** Goes before the messages, in place of a system message; null: none. */
  readonly prompt: RequestedPrompt | null
  /** Fields of the request besides model and messages. */
  readonly values: object
  readonly signal: AbortSignal
  readonly onState: (state: PaneState) => void
}

/** Resolves when the answer is complete, cut off or refused; never rejects. */
export async function runPane(pane: PaneState, run: Run): Promise<void> {
  const { project, system, prompt, values, signal, onState } = run
  const begin = performance.now()
  const first = system === null ? [] : [{ role: 'system', content: system }]
  const model = pane.model === '' ? {} : { model: pane.model }
  // Reasoning is not sent back to the model.
  const said = pane.messages.map(({ reasoning: _, reasoning_content: __, ...message }) => message)
  const stream =
    prompt === null
      ? streamCompletion(project, { ...values, ...model, messages: [...first, ...said] }, signal)
      : streamPrompt(project, { ...values, ...model, ...toInputs(prompt, said) }, signal)
  let state: PaneState = {
    ...pane,
    answer: NO_COMPLETION,
    callId: null,
    failure: null,
    isRunning: true,
    firstMs: null,
    wholeMs: null,
    isStopped: false,
  }
  onState(state)
  try {
    for await (const { chunk, callId } of stream) {
      const answer = chunk === null ? NO_COMPLETION : addChunk(state.answer ?? NO_COMPLETION, chunk)
      const hasBegun = answer.content !== '' || answer.toolCalls.length > 0
      const firstMs = state.firstMs ?? (hasBegun ? performance.now() - begin : null)
      state = { ...state, answer, callId, firstMs }
      onState(state)
    }
  } catch (error) {
    state = { ...state, failure: errorText(error) }
  }
  const { answer } = state
  const isSomething = answer !== null && (answer.content !== '' || answer.toolCalls.length > 0)
  const messages = isSomething ? [...state.messages, messageOf(answer)] : state.messages
  const wholeMs = state.failure === null ? performance.now() - begin : null
  onState({ ...state, messages, isRunning: false, wholeMs, isStopped: signal.aborted })
}
