/** The input and responses of a chat, stored for when the user returns to it. */
import type { Signal } from '@preact/signals'
import { forgetPersisted, persistedSignal } from '../parts/persisted.ts'
import type { PromptDraft } from '../prompts/prompt-draft.ts'
import { cameBack } from '../shell/location.ts'
import { newPane, type PaneState } from './pane.ts'
import type { Parameter, Texts } from './parameters.ts'
import { type Recorded, textsOf } from './replay.ts'

export interface ChatState {
  readonly system: string
  readonly texts: Texts
  readonly panes: readonly PaneState[]
  /** The message that is not sent yet. */
  readonly message: string
  /** The prompt that is tried; null: none. */
  readonly prompt: TriedPrompt | null
}

export interface TriedPrompt {
  readonly draft: PromptDraft
  /** By the name of the variable. */
  readonly values: Readonly<Record<string, string>>
}

/** The part of a chat that is in the address. */
export interface ChatLocation {
  readonly project: string
  /** The call that is replayed. */
  readonly call: string | null
  readonly model: string | null
  /** Name and version of the prompt that is tried. */
  readonly prompt: string | null
}

const nameOf = ({ project, call, model, prompt }: ChatLocation) => [
  'chat',
  project,
  call,
  model,
  prompt,
]

/** A replay starts again from the recorded call, unless the user came here by the back button. */
export function openChat(
  place: ChatLocation,
  recorded: Recorded | null,
  parameters: readonly Parameter[],
  prompt: PromptDraft | null,
): Signal<ChatState> {
  if (recorded !== null && !cameBack()) forgetPersisted(nameOf(place))
  return persistedSignal(nameOf(place), () => ({
    system: '',
    message: '',
    prompt: prompt === null ? null : { draft: prompt, values: {} },
    texts: recorded === null ? {} : textsOf(recorded, parameters),
    panes: [newPane(place.model ?? servedModelOf(recorded), recorded?.messages)],
  }))
}

/** The model of a recorded call; the default one if it is not served here. */
function servedModelOf(recorded: Recorded | null): string | undefined {
  return recorded?.isServed ? recorded.model : undefined
}

export function forgetChat(place: ChatLocation): void {
  forgetPersisted(nameOf(place))
}
