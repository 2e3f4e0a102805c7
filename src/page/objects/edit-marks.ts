/** Tags and aliases of a version, editable for users who may write. */
import { html } from 'htm/preact'
import { useId, useState } from 'preact/hooks'
import { errorText, requestJson } from '../api/client.ts'
import { may } from '../api/session.ts'
import { textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { focusNeighbour } from '../parts/neighbour.ts'
import type { ObjectVersion } from './kinds.ts'
import { type Mark, Marks, marksOf } from './objects.ts'

interface EditMarksProps {
  readonly object: ObjectVersion
  /** All versions of the object, whose aliases can be moved to this one. */
  readonly versions: readonly ObjectVersion[]
  /** Called when something has changed. */
  readonly onChanged: () => void
}

export function EditMarks({ object, versions, onChanged }: EditMarksProps) {
  const [failure, setFailure] = useState<string | null>(null)
  const marks = marksOf(object)
  if (!may('traces:write')) {
    return marks.length === 0 ? '–' : html`<${Marks} object=${object} />`
  }
  const add = async (mark: Mark) => {
    await putOn(object, mark)
    onChanged()
  }
  const remove = async (mark: Mark, button: Element) => {
    setFailure(null)
    try {
      await takeOff(object, mark)
      const neighbours = { item: '.mark', button: 'button', instead: 'input', within: '.marks' }
      focusNeighbour(button, neighbours)
      onChanged()
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return html`<div class="bar marks">
    ${marks.map(
      (
        mark,
      ) => html`<span key=${`${mark.kind} ${mark.name}`} class=${`mark ${mark.kind}`} title=${mark.kind}>
        ${mark.name} <button class="quiet" aria-label=${`Remove the ${mark.kind} ${mark.name}`} onClick=${(event: Event) => remove(mark, event.currentTarget as Element)}>×</button>
      </span>`,
    )}
    <${NewMark} holders=${holdersOf(versions, object)} onAdd=${add} />
    ${failure !== null && html`<span class="bad" role="alert">${failure}</span>`}
  </div>`
}

/** The aliases of other versions, with the number of the version. */
function holdersOf(
  versions: readonly ObjectVersion[],
  { digest }: ObjectVersion,
): ReadonlyMap<string, number> {
  const others = versions.filter((other) => other.digest !== digest)
  const aliased = others.flatMap((other) => marksOf(other).map((mark) => ({ ...mark, other })))
  return new Map(
    aliased
      .filter(({ kind }) => kind === 'alias')
      .map(({ name, other }) => [name, other.version_index]),
  )
}

interface NewMarkProps {
  /** Numbers of the versions that have an alias now. */
  readonly holders: ReadonlyMap<string, number>
  readonly onAdd: (mark: Mark) => Promise<void>
}

function NewMark({ holders, onAdd }: NewMarkProps) {
  const [kind, setKind] = useState<Mark['kind']>('tag')
  const [name, setName] = useState('')
  const list = useId()
  const { submit, failure } = useSubmit(async () => {
    if (name.trim() === '') return
    await onAdd({ kind, name: name.trim() })
    setName((last) => (last === name ? '' : last))
  })
  const holder = kind === 'alias' ? holders.get(name.trim()) : undefined
  return html`<form class="bar" onSubmit=${submit}>
    <select aria-label="Tag or alias" value=${kind} onChange=${(event: Event) => setKind((event.target as HTMLSelectElement).value as Mark['kind'])}>
      <option value="tag">tag</option>
      <option value="alias">alias</option>
    </select>
    <input class="short" aria-label="Name of the tag or alias" list=${kind === 'alias' ? list : undefined} value=${name} onInput=${textOf(setName)} />
    <datalist id=${list}>${[...holders.keys()].map((alias) => html`<option key=${alias} value=${alias}></option>`)}</datalist>
    <button>${holder === undefined ? 'Add' : `Move from v${holder}`}</button>
    ${failure !== null && html`<span class="bad" role="alert">${failure}</span>`}
  </form>`
}

/** Tags belong to a version, aliases to the object: adding an alias here takes it from another version. */
function pathOf({ object_id, digest }: ObjectVersion, { kind }: Mark): string {
  const object = `/objs/${encodeURIComponent(object_id)}`
  return kind === 'tag'
    ? `${object}/versions/${encodeURIComponent(digest)}/tags`
    : `${object}/aliases`
}

function putOn(object: ObjectVersion, mark: Mark): Promise<unknown> {
  const { project_id, digest } = object
  const body =
    mark.kind === 'tag'
      ? { project_id, tags: [mark.name] }
      : { project_id, digest, aliases: [mark.name] }
  return requestJson(pathOf(object, mark), body, { method: 'PUT' })
}

function takeOff(object: ObjectVersion, mark: Mark): Promise<unknown> {
  const { project_id } = object
  const body =
    mark.kind === 'tag' ? { project_id, tags: [mark.name] } : { project_id, aliases: [mark.name] }
  return requestJson(`${pathOf(object, mark)}/remove`, body)
}
