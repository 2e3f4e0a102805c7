/** Talks to one model, or to two side by side; every answer is recorded as a call of the project. */
import { html } from 'htm/preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { errorText, requestJson } from '../api/client.ts'
import { may } from '../api/session.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { MessageList } from '../parts/messages/message-list.ts'
import { Failure, Loading } from '../parts/notice.ts'
import type { PromptDraft } from '../prompts/prompt-draft.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import {
  type ChatLocation,
  type ChatState,
  forgetChat,
  openChat,
  type TriedPrompt,
} from './chat-state.ts'
import { newPane, Pane, type PaneState, settled } from './pane.ts'
import { ParameterForm } from './parameter-form.ts'
import { type Described, type Parameters, parametersOf, valuesOf } from './parameters.ts'
import { Prompt } from './prompt.ts'
import { PromptPanel, readPrompt, toRequested } from './prompt-panel.ts'
import { type Recorded, readRecorded } from './replay.ts'
import { takeReplay } from './replay-menu.ts'
import { runPane } from './run-pane.ts'

export function Playground({ project }: ViewProps) {
  const [call, model, prompt] = ['call', 'model', 'prompt'].map((name) => query.value.get(name))
  if (!may('inference'))
    return html`<h1>Playground</h1><${Failure} words="The key may not use models (it lacks inference)." />`
  return html`<${Opened} key=${JSON.stringify([call, model, prompt])} place=${{ project, call, model, prompt }} />`
}

function Opened({ place }: { readonly place: ChatLocation }) {
  const { project, call, prompt } = place
  const parameters = useLoad('parameters', async (signal) =>
    parametersOf(await requestJson<Described>('/openapi.json', undefined, { signal })),
  )
  const recorded = useLoad(`${call}`, async (signal) =>
    call === null ? null : readRecorded(project, call, signal),
  )
  const draft = useLoad(`${prompt}`, async (signal) =>
    prompt === null ? null : readPrompt(project, prompt, signal),
  )
  // While the server cannot be reached, the chat stays where it is, with the focus.
  if ([parameters, recorded, draft].some(({ isLoading, failure }) => isLoading && failure === null))
    return html`<${Loading} />`
  return html`<${Failure} words=${parameters.failure ?? recorded.failure ?? draft.failure} />
    <${Chat} key=${`${recorded.value !== null} ${draft.value !== null}`} place=${place} parameters=${parameters.value} recorded=${recorded.value} draft=${draft.value} />`
}

interface ChatProps {
  readonly place: ChatLocation
  readonly parameters: Parameters | null
  /** The call that is replayed. */
  readonly recorded: Recorded | null
  /** The prompt that is tried, as it is opened. */
  readonly draft: PromptDraft | null
}

function Chat({ place, parameters, recorded, draft }: ChatProps) {
  const { project } = place
  const all = [...(parameters?.first ?? []), ...(parameters?.others ?? [])]
  const chat = useMemo(() => openChat(place, recorded, all, draft), [])
  const { system, texts, panes, message, prompt } = chat.value
  const set = (part: Partial<ChatState>) => {
    chat.value = { ...chat.value, ...part }
  }
  const [failure, setFailure] = useState<string | null>(null)
  const running = useRef(new AbortController())
  useEffect(() => () => running.current.abort(), [])
  const box = useRef<HTMLDivElement>(null)
  const paneCount = useRef(panes.length)
  // The focused button, which added the pane, was removed.
  useLayoutEffect(() => {
    if (panes.length > paneCount.current)
      box.current?.querySelector<HTMLElement>('.pane:last-child select')?.focus()
    paneCount.current = panes.length
  }, [panes.length])
  const models = useLoad('models', (signal) =>
    requestJson<{ data: { id: string }[] }>('/v1/models', undefined, { signal }),
  )
  const isRunning = panes.some((pane) => pane.isRunning)
  const change = (index: number, state: PaneState) =>
    set({ panes: chat.value.panes.map((pane, at) => (at === index ? state : pane)) })
  const changePrompt = (next: (last: TriedPrompt) => TriedPrompt) => {
    const { prompt: last } = chat.value
    if (last !== null) set({ prompt: next(last) })
  }
  /** @returns whether the models were asked */
  const run = (messagesOf: (before: PaneState['messages']) => PaneState['messages']) => {
    setFailure(null)
    try {
      const values = valuesOf(texts, all)
      const requested = prompt === null ? null : toRequested(prompt)
      const asked = panes
        .map(settled)
        .map((pane) => ({ ...pane, messages: messagesOf(pane.messages) }))
      const abort = new AbortController()
      running.current = abort
      asked.forEach((pane, index) => {
        const onState = (state: PaneState) => change(index, state)
        void runPane(pane, {
          project,
          system: system === '' ? null : system,
          prompt: requested,
          values,
          signal: abort.signal,
          onState,
        })
      })
      return true
    } catch (error) {
      setFailure(errorText(error))
      return false
    }
  }
  const send = (content: string) => run((before) => [...before, { role: 'user', content }])
  const again = () => run(withoutAnswer)
  useEffect(() => {
    if (recorded !== null && takeReplay()) run((before) => before)
  }, [])
  const compare = () => {
    const { messages = [], drafts = new Map() } = panes[0] ?? {}
    set({ panes: [...panes, { ...newPane('', messages), drafts }] })
  }
  return html`<h1 class="hidden">Playground</h1>
    <div class="playground">
    <section class="chat" aria-label="Chat">
      ${recorded !== null && html`<${Before} project=${project} recorded=${recorded} />`}
      ${prompt !== null && html`<${PromptPanel} project=${project} prompt=${prompt} isRunning=${isRunning} onChange=${changePrompt} onRun=${() => run(() => [])} />`}
      <div class="panes" ref=${box}>
        ${panes.map(
          (state, index) => html`<${Pane}
            key=${index}
            project=${project}
            number=${panes.length > 1 ? index + 1 : null}
            state=${state}
            models=${models.value?.data.map(({ id }) => id) ?? []}
            onChange=${(next: PaneState) => change(index, next)}
            onRemove=${panes.length > 1 ? () => set({ panes: panes.filter((_pane, at) => at !== index) }) : null}
          />`,
        )}
      </div>
      <${Failure} words=${failure} />
      <${Prompt} text=${message} isRunning=${isRunning} onType=${(next: string) => set({ message: next })} onSend=${send} onStop=${() => running.current.abort()} />
      <div class="bar">
        <button disabled=${isRunning || panes[0]?.messages.length === 0} onClick=${again}>Regenerate</button>
        ${panes.length < 2 && html`<button disabled=${isRunning} onClick=${compare}>Compare with another model</button>`}
        <span class="push"></span>
        <button disabled=${isRunning} onClick=${() => startAnew(place, panes, set)}>New chat</button>
      </div>
    </section>
    <form class="settings fields" aria-label="Parameters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${Failure} words=${models.failure} />
      ${prompt === null && html`<label>System<textarea rows="3" value=${system} onInput=${(event: Event) => set({ system: (event.target as HTMLTextAreaElement).value })}></textarea></label>`}
      <${ParameterForm} parameters=${parameters} failure=${null} texts=${texts} onChange=${(next: ChatState['texts']) => set({ texts: next })} />
    </form>
  </div>`
}

function startAnew(
  place: ChatLocation,
  panes: readonly PaneState[],
  set: (part: Partial<ChatState>) => void,
): void {
  if (place.call === null) {
    set({ panes: panes.map(({ model }) => newPane(model)) })
    return
  }
  forgetChat({ ...place, call: null })
  setQuery({ call: null })
}

/** A conversation up to the last question. */
function withoutAnswer(messages: PaneState['messages']): PaneState['messages'] {
  return messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages
}

function Before({ project, recorded }: { readonly project: string; readonly recorded: Recorded }) {
  // The link stands before the summary: in it, it would be one thing to press inside another.
  return html`<p>It begins as <a href=${pathTo(project, 'calls', recorded.id)}>the recorded call</a>.${!recorded.isServed && recorded.model !== '' && html` That was made with ${recorded.model}, which is not served here: the default model is chosen.`}</p>
  <details>
    <summary>What the call answered</summary>
    <${MessageList} messages=${recorded.answers} />
  </details>`
}
