/** Asks one model, and updates its pane as the answer arrives. */
import { errorText } from '../api/client.ts'
import { addChunk, messageOf, NO_COMPLETION } from './completion.ts'
import type { PaneState } from './pane.ts'
import { streamCompletion } from './stream.ts'

interface Run {
  readonly project: string
  /** Null sends no system message. */
  readonly system: string | null
  /** Fields of the request besides model and messages. */
  readonly values: object
  readonly signal: AbortSignal
  readonly onState: (state: PaneState) => void
}

/** Resolves when the answer is complete, cut off or refused; never rejects. */
export async function runPane(pane: PaneState, run: Run): Promise<void> {
  const { project, system, values, signal, onState } = run
  const begin = performance.now()
  const first = system === null ? [] : [{ role: 'system', content: system }]
  const model = pane.model === '' ? {} : { model: pane.model }
  // Reasoning is not sent back to the model.
  const said = pane.messages.map(({ reasoning: _, reasoning_content: __, ...message }) => message)
  const request = { ...values, ...model, messages: [...first, ...said] }
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
    for await (const { chunk, callId } of streamCompletion(project, request, signal)) {
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
