/** The form that saves a prompt as its next version, with what that changes shown before. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { ApiFailure, errorText, requestJson } from '../api/client.ts'
import { Conflict } from '../datasets/conflict.ts'
import { ChangeList } from '../objects/change-list.ts'
import { oldVersionText } from '../objects/dataset-rows.ts'
import type { ObjectVersion } from '../objects/kinds.ts'
import { readVersion } from '../objects/object-reads.ts'
import { type Change, listChanges } from '../objects/value-changes.ts'
import { MESSAGE_CHARS_MAX, writeMessage } from '../objects/version-message.ts'
import { clickOnce, textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { contentOf, isSameAs, type PromptDraft, promptMessagesOf } from './prompt-draft.ts'

interface SavePromptProps {
  readonly project: string
  readonly draft: PromptDraft
  readonly onChange: (part: Partial<PromptDraft>) => void
  readonly onSaved: (version: ObjectVersion) => void
}

export function SavePrompt({ project, draft, onChange, onSaved }: SavePromptProps) {
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
      ${start === null && html`<label>Name of the prompt<input required maxlength="128" pattern="[\\p{L}\\p{N}_.\\-]+" title="letters, digits, _ . and -" value=${name} onInput=${textOf((text) => onChange({ name: text }))} /></label>`}
      <label>What this version changes, in words<input maxlength=${MESSAGE_CHARS_MAX} placeholder="optional" value=${message} onInput=${textOf((text) => onChange({ message: text }))} /></label>
      <button class="main" disabled=${isSame || invalid !== null} onClick=${clickOnce}>Save as v${next}</button>
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

/** @returns the version that was published, or the one of somebody else that is the latest @throws ApiFailure, Error */
async function save(
  project_id: string,
  draft: PromptDraft,
): Promise<ObjectVersion | Pick<PromptDraft, 'newer'>> {
  const { latest, name } = draft
  const object_id = latest?.object_id ?? name.trim()
  const expected_latest = latest?.version_index ?? -1
  const obj = { project_id, object_id, val: contentOf(draft), expected_latest }
  const { signal } = new AbortController()
  try {
    const { digest } = await requestJson<{ digest: string }>('/obj/create', { obj })
    const made = await readVersion(project_id, object_id, digest, signal)
    if (latest !== null && made.version_index <= latest.version_index)
      throw new Error(oldVersionText(made, latest, 'these changes'))
    return made
  } catch (error) {
    if (!(error instanceof ApiFailure && error.code === 'object_conflict')) throw error
    const newer = await readVersion(project_id, object_id, 'latest', signal)
    if (promptMessagesOf(newer.val) !== null) return { newer }
    throw new Error(`${object_id} is the name of another object: choose another one.`)
  }
}
