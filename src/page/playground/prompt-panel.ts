/** The prompt that is tried in the playground: its messages, values for its variables, and the form that saves it. */
import { html } from 'htm/preact'
import { may } from '../api/session.ts'
import { type ObjectVersion, refOf } from '../objects/kinds.ts'
import { readVersion } from '../objects/object-reads.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import {
  isSameAs,
  isTextPrompt,
  messagesOf,
  openDraft,
  type PromptDraft,
  promptMessagesOf,
  variablesIn,
} from '../prompts/prompt-draft.ts'
import { PromptFields } from '../prompts/prompt-fields.ts'
import { SavePrompt } from '../prompts/save-prompt.ts'
import { pathToVersion } from '../shell/page-route.ts'
import type { TriedPrompt } from './chat-state.ts'
import type { RequestedPrompt } from './run-pane.ts'

/** @param text - name and version, as `greet:v3` @throws Error for an object without messages */
export async function readPrompt(
  project: string,
  text: string,
  signal: AbortSignal,
): Promise<PromptDraft> {
  const [name = '', version = ''] = text.split(':')
  const [start, latest] = await Promise.all(
    [version || 'latest', 'latest'].map((each) => readVersion(project, name, each, signal)),
  )
  if (start === undefined || promptMessagesOf(start.val) === null)
    throw new Error(`${name} has no messages and no text to try.`)
  return openDraft(start, latest ?? start)
}

/** The prompt as it is requested: by its version while its text is the same. @throws Error for a message that is invalid JSON */
export function toRequested({ draft, values }: TriedPrompt): RequestedPrompt {
  const messages = messagesOf(draft.items)
  const version = sameVersion(draft)
  const given = Object.entries(values).filter(([, value]) => value !== '')
  return {
    ref: version === null ? null : refOf(version as ObjectVersion),
    messages,
    values: Object.fromEntries(given),
  }
}

function sameVersion(draft: PromptDraft): PromptDraft['start'] {
  return [draft.start, draft.latest].find((version) => isSameAs(version, draft)) ?? null
}

interface PromptPanelProps {
  readonly project: string
  readonly prompt: TriedPrompt
  readonly isRunning: boolean
  /** Changes the prompt that is there by then: it may be edited while it is saved. */
  readonly onChange: (change: (last: TriedPrompt) => TriedPrompt) => void
  /** Sends the prompt without the messages that followed it. */
  readonly onRun: () => void
}

export function PromptPanel({ project, prompt, isRunning, onChange, onRun }: PromptPanelProps) {
  const { draft, values } = prompt
  const { start, items } = draft
  const change = (part: Partial<PromptDraft>) =>
    onChange((last) => ({ ...last, draft: { ...last.draft, ...part } }))
  const saved = (version: ObjectVersion) =>
    change({ start: version, latest: version, message: '', newer: null })
  const version = sameVersion(draft)
  const name = start?.object_id ?? ''
  const variables = variablesIn(items.map(({ text }) => text))
  return html`<section class="tried-prompt" aria-label="Prompt">
    <h2><a href=${pathToVersion(project, name, start?.digest ?? 'latest')}>${name}</a>
      <span class="faint">${version === null ? ` changed since v${start?.version_index}` : ` v${version.version_index}`}</span></h2>
    <${PromptFields} items=${items} isText=${isTextPrompt(start?.val)} onChange=${(next: PromptDraft['items']) => change({ items: next })} />
    ${
      variables.length > 0 &&
      html`<div class="fields" role="group" aria-label="Values of variables">
      ${variables.map((variable) => html`<label key=${variable}>${variable}<textarea rows="1" placeholder=${`{${variable}}`} value=${values[variable] ?? ''} onInput=${textOf((text) => onChange((last) => ({ ...last, values: { ...last.values, [variable]: text } })))}></textarea></label>`)}
    </div>`
    }
    <div class="bar"><button type="button" class="main" disabled=${isRunning} onClick=${onRun}>Run the prompt</button></div>
    ${may('traces:write') && !isSameAs(draft.latest, draft) && html`<${SavePrompt} project=${project} draft=${draft} onChange=${change} onSaved=${saved} />`}
  </section>`
}
