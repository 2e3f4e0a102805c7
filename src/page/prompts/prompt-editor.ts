/** Changes a prompt, or makes one; it is saved as the next version. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import type { ObjectVersion } from '../objects/kinds.ts'
import { readVersion } from '../objects/object-reads.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { forgetPersisted, persistedSignal } from '../parts/persisted.ts'
import { go, setQuery } from '../shell/location.ts'
import { pathTo, pathToVersion } from '../shell/page-route.ts'
import { isTextPrompt, openDraft, type PromptDraft, promptMessagesOf } from './prompt-draft.ts'
import { PromptFields } from './prompt-fields.ts'
import { SavePrompt } from './save-prompt.ts'

interface PromptEditorProps {
  readonly project: string
  readonly name: string
  /** The version to start from. */
  readonly object: ObjectVersion
}

/** The text of any version can be the start of the next one, which is saved on top of the latest. */
export function PromptEditor({ project, name, object }: PromptEditorProps) {
  const latest = useLoad(`${project} ${name}`, (signal) =>
    readVersion(project, name, 'latest', signal),
  )
  if (promptMessagesOf(object.val) === null)
    return html`<p class="notice">This prompt has no messages and no text, and is changed over the API.</p>`
  if (latest.value === null)
    return html`<${Failure} words=${latest.failure} />${latest.isLoading && html`<${Loading} />`}`
  return html`<${Editor} key=${object.digest} project=${project} start=${object} latest=${latest.value} />`
}

export function NewPrompt({ project }: { readonly project: string }) {
  return html`<h1>New prompt</h1>
    <${Editor} project=${project} start=${null} latest=${null} />`
}

interface EditorProps {
  readonly project: string
  readonly start: ObjectVersion | null
  readonly latest: ObjectVersion | null
}

function Editor({ project, start, latest }: EditorProps) {
  const stored = ['prompt', project, start?.object_id ?? null, start?.digest ?? null]
  const draft = useMemo(
    () => persistedSignal<PromptDraft>(stored, () => openDraft(start, latest)),
    [],
  )
  const set = (part: Partial<PromptDraft>) => {
    draft.value = { ...draft.value, ...part }
  }
  const leave = () => {
    forgetPersisted(stored)
    if (start === null) go(pathTo(project, 'prompts'))
    else setQuery({ edit: null }, { isStep: true })
  }
  const close = ({ object_id, digest }: ObjectVersion) => {
    forgetPersisted(stored)
    go(pathToVersion(project, object_id, digest))
  }
  return html`${start !== null && html`<h2 class="apart">Edit from v${start.version_index}</h2>`}
    <${PromptFields} items=${draft.value.items} isText=${isTextPrompt(start?.val)} onChange=${(items: PromptDraft['items']) => set({ items })} />
    <${SavePrompt} project=${project} draft=${draft.value} onChange=${set} onSaved=${close}><button type="button" onClick=${leave}>Discard</button><//>`
}
