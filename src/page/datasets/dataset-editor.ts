/** Changes the rows of a dataset, or makes one; what changes is shown before it is saved as the next version. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { publishRows } from '../objects/dataset-rows.ts'
import type { ObjectVersion } from '../objects/kinds.ts'
import { countRows, readRows, readVersion, tableOf } from '../objects/object-reads.ts'
import { RowChangeList } from '../objects/row-difference.ts'
import { Conflict, MessageField, NameField, saveVersion } from '../objects/save-version.ts'
import { writeMessage } from '../objects/version-message.ts'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { forgetPersisted, persistedSignal } from '../parts/persisted.ts'
import { go, setQuery } from '../shell/location.ts'
import { pathTo, pathToVersion } from '../shell/page-route.ts'
import { AddRows } from './add-rows.ts'
import { EditedRows } from './edited-rows.ts'
import { hasEdits, listEdits, moveEdits, NO_EDITS, type RowEdits, updatesOf } from './row-edits.ts'

/** The version that is changed. */
interface Base {
  /** Null: the dataset is new. */
  readonly version: ObjectVersion | null
  /** Rows of the version. */
  readonly count: number
}

interface Draft {
  readonly base: Base
  readonly edits: RowEdits
  /** Rows that are typed or pasted and not added yet. */
  readonly text: string
  readonly name: string
  readonly message: string
  /** The version that somebody else has published since. */
  readonly newer: ObjectVersion | null
  /** What became of the changes when they were moved to a newer version; null: nothing to report. */
  readonly note: string | null
}

interface EditorProps {
  readonly project: string
  readonly name: string
}

/** Unsaved changes are stored while other views are shown. */
export function DatasetEditor({ project, name }: EditorProps) {
  const loaded = useLoad(`${project} ${name}`, (signal) => readBase(project, name, signal))
  if (loaded.value === null)
    return html`<${Failure} words=${loaded.failure} />${loaded.isLoading && html`<${Loading} />`}`
  return html`<${Editor} project=${project} name=${name} first=${loaded.value} />`
}

export function NewDataset({ project }: { readonly project: string }) {
  return html`<h1>New dataset</h1>
    <${Editor} project=${project} name="" first=${{ version: null, count: 0 }} />`
}

async function readBase(project: string, name: string, signal: AbortSignal): Promise<Base> {
  const version = await readVersion(project, name, 'latest', signal)
  const table = tableOf(version.val)
  if (table === null) throw new Error(`${name} is not a dataset.`)
  return { version, count: await countRows(project, table, signal) }
}

function Editor({ project, name, first }: EditorProps & { readonly first: Base }) {
  const stored = ['dataset', project, name]
  const draft = useMemo(
    () =>
      persistedSignal<Draft>(stored, () => ({
        base: first,
        edits: NO_EDITS,
        text: '',
        name,
        message: '',
        newer: null,
        note: null,
      })),
    [],
  )
  const { base, edits, text, newer, note, message } = draft.value
  const set = (part: Partial<Draft>) => {
    draft.value = { ...draft.value, ...part }
  }
  const change = (next: RowEdits) => set({ edits: next })
  const changes = useMemo(() => listEdits(edits, base.count), [edits, base])
  const [isReviewed, setReviewed] = useState(false)
  const { submit, failure } = useSubmit(async () => {
    if (text.trim() !== '')
      throw new Error('Add the rows that are typed below the others, or remove their text.')
    const saved = await save(project, draft.value)
    if ('newer' in saved) return set(saved)
    await writeMessage(saved, message).catch(async (error) => {
      const { signal } = new AbortController()
      set({ base: await readBase(project, saved.object_id, signal), edits: NO_EDITS })
      throw error
    })
    forgetPersisted(stored)
    go(pathToVersion(project, saved.object_id, saved.digest))
  })
  const leave = () => {
    forgetPersisted(stored)
    if (base.version === null) go(pathTo(project, 'datasets'))
    else setQuery({ edit: null }, { isStep: true })
  }
  const move = useSubmit(async () => set(await moveTo(project, draft.value)))
  const isNew = base.version === null
  const next = (base.version?.version_index ?? -1) + 1
  return html`${base.version !== null && html`<h2 class="apart">Edit the rows of v${base.version.version_index}</h2>`}
    <p role="status">${summaryOf(edits, base)}</p>
    ${note !== null && html`<p class="notice">${note}</p>`}
    <${EditedRows} key=${base.version?.digest} project=${project} base=${base} edits=${edits} onChange=${change} />
    <${AddRows} edits=${edits} text=${text} onType=${(next: string) => set({ text: next })} onChange=${change} />
    ${
      hasEdits(edits) &&
      html`<details class="part" open=${isReviewed} onToggle=${(event: Event) => setReviewed((event.target as HTMLDetailsElement).open)}>
        <summary><h2>What changes</h2></summary>
        ${isReviewed && html`<${RowChangeList} changes=${changes} />`}
      </details>`
    }
    ${newer !== null && html`<${Conflict} base=${base.version} newer=${newer} onMove=${move.submit} />`}
    <${Failure} words=${failure ?? move.failure} />
    <form class="bar filters" aria-label="Save" onSubmit=${submit}>
      ${isNew && html`<${NameField} label="Name of the dataset" value=${draft.value.name} onInput=${(next: string) => set({ name: next })} />`}
      <${MessageField} value=${message} onInput=${(next: string) => set({ message: next })} />
      ${
        isReviewed || isNew
          ? html`<button key="save" class="main" disabled=${!isNew && !hasEdits(edits)} onClick=${clickOnce}>Save as v${next}</button>`
          : html`<button key="show" type="button" class="main" disabled=${!hasEdits(edits)} onClick=${() => setReviewed(true)}>Show what changes</button>`
      }
      <button type="button" onClick=${leave}>Discard</button>
    </form>`
}

function summaryOf({ changed, added }: RowEdits, { count }: Base): string {
  const removed = [...changed.values()].filter(({ val }) => val === null).length
  const total = count - removed + added.length
  return `${formatCount(total)} ${total === 1 ? 'row' : 'rows'}: ${formatCount(added.length)} added, ${formatCount(removed)} removed, ${formatCount(changed.size - removed)} changed`
}

function save(project_id: string, { base, edits, name }: Draft) {
  const latest = base.version
  const object_id = latest?.object_id ?? name.trim()
  return saveVersion({
    project_id,
    object_id,
    latest,
    publish: () => publishRows(project_id, object_id, latest, updatesOf(edits)),
    canMoveTo: ({ val }) => tableOf(val) !== null,
  })
}

/** Moves the changes to the version of somebody else, after which they can be saved. */
async function moveTo(project: string, { newer, edits }: Draft): Promise<Partial<Draft>> {
  if (newer === null) return {}
  const { signal } = new AbortController()
  const base = await readBase(project, newer.object_id, signal)
  const row_digests = [...edits.changed.values()].map(({ before }) => before.digest)
  const table = tableOf(base.version?.val) ?? ''
  const found =
    row_digests.length === 0
      ? []
      : await readRows(project, table, { filter: { row_digests } }, signal)
  const { edits: moved, lost } = moveEdits(edits, found)
  const note =
    lost === 0
      ? null
      : `${formatCount(lost)} of the changed rows ${lost === 1 ? 'is' : 'are'} no longer in v${base.version?.version_index}, and ${lost === 1 ? 'is' : 'are'} added as new.`
  return { base, edits: moved, newer: null, note }
}
