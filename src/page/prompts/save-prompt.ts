/** The form that saves a prompt as its next version, with what that changes shown before. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { errorText, requestJson } from '../api/client.ts'
import { ChangeList } from '../objects/change-list.ts'
import type { ObjectVersion } from '../objects/kinds.ts'
import { Conflict, MessageField, NameField, saveVersion } from '../objects/save-version.ts'
import { type Change, listChanges } from '../objects/value-changes.ts'
import { writeMessage } from '../objects/version-message.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import {
  contentOf,
  isSameAs,
  isTextPrompt,
  type PromptDraft,
  promptMessagesOf,
} from './prompt-draft.ts'

interface SavePromptProps {
  readonly project: string
  readonly draft: PromptDraft
  readonly onChange: (part: Partial<PromptDraft>) => void
  readonly onSaved: (version: ObjectVersion) => void
  /** Buttons beside the one that saves. */
  readonly children?: ComponentChildren
}

export function SavePrompt({ project, draft, onChange, onSaved, children }: SavePromptProps) {
  const { start, latest, newer, name, message } = draft
  const { submit, failure } = useSubmit(async () => {
    const saved = await save(project, draft)
    if ('newer' in saved) return onChange(saved)
    await writeMessage(saved, message).catch((error) => {
      onChange({ start: saved, latest: saved, newer: null })
      throw error
    })
    onSaved(saved)
  })
  const { changes, invalid } = useMemo(() => changesOf(draft), [draft])
  const isSame = isSameAs(latest, draft)
  const next = (latest?.version_index ?? -1) + 1
  return html`<details class="part">
      <summary><h2>What changes${latest === null ? '' : ` since v${latest.version_index}`}</h2></summary>
      ${changes.length === 0 ? html`<p class="faint">Nothing.</p>` : html`<${ChangeList} changes=${changes} />`}
    </details>
    ${newer !== null && html`<${Conflict} base=${latest} newer=${newer} onMove=${() => onChange({ latest: newer, newer: null, start: start ?? newer })} />`}
    <${Failure} words=${failure ?? invalid} />
    <form class="bar filters" aria-label="Save" onSubmit=${submit}>
      ${start === null && html`<${NameField} label="Name of the prompt" value=${name} onInput=${(next: string) => onChange({ name: next })} />`}
      <${MessageField} value=${message} onInput=${(next: string) => onChange({ message: next })} />
      <button class="main" disabled=${isSame || invalid !== null} onClick=${clickOnce}>Save as v${next}</button>
      ${children}
      ${isSame && html`<span class="faint">It is the same as v${latest?.version_index}.</span>`}
    </form>`
}

function changesOf(draft: PromptDraft): {
  readonly changes: readonly Change[]
  readonly invalid: string | null
} {
  try {
    return { changes: listChanges(draft.latest?.val ?? {}, contentOf(draft)), invalid: null }
  } catch (error) {
    return { changes: [], invalid: errorText(error) }
  }
}

function save(project_id: string, draft: PromptDraft) {
  const { start, latest, name } = draft
  const object_id = latest?.object_id ?? name.trim()
  const expected_latest = latest?.version_index ?? -1
  const obj = { project_id, object_id, val: contentOf(draft), expected_latest }
  return saveVersion({
    project_id,
    object_id,
    latest,
    publish: async () => (await requestJson<{ digest: string }>('/obj/create', { obj })).digest,
    // One text has no room for the messages of a new prompt.
    canMoveTo: ({ val }) =>
      promptMessagesOf(val) !== null && !(start === null && isTextPrompt(val)),
  })
}
