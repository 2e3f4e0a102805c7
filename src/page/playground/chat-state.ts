/** The input and responses of a chat, stored for when the user returns to it. */
import type { Signal } from '@preact/signals'
import { forgetPersisted, persistedSignal } from '../parts/persisted.ts'
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
}

/** The part of a chat that is in the address. */
export interface ChatLocation {
  readonly project: string
  /** The call that is replayed. */
  readonly call: string | null
  readonly model: string | null
}

const nameOf = ({ project, call, model }: ChatLocation) => ['chat', project, call, model]

/** A replay starts again from the recorded call, unless the user came here by the back button. */
export function openChat(
  place: ChatLocation,
  recorded: Recorded | null,
  parameters: readonly Parameter[],
): Signal<ChatState> {
  if (recorded !== null && !cameBack()) forgetPersisted(nameOf(place))
  return persistedSignal(nameOf(place), () => ({
    system: '',
    message: '',
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
