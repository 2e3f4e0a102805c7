/** The tags of a call, which can be added and removed. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { may } from '../api/session.ts'
import { listTags, TAG_CHARS_MAX, tagCalls } from '../api/tags.ts'
import { type Call, factsOf, tagsOf } from '../api/wire.ts'
import { printSearch } from '../calls/search/search-text.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { icon } from '../parts/icon.ts'
import { focusNeighbour } from '../parts/neighbour.ts'
import { Failure } from '../parts/notice.ts'
import { pathTo } from '../shell/page-route.ts'

interface TagsProps {
  readonly project: string
  readonly call: Call
  readonly onChange: () => void
}

export function Tags({ project, call, onChange }: TagsProps) {
  const tags = tagsOf(factsOf(call).feedback ?? [])
  const isWriter = may('traces:write')
  if (tags.length === 0 && !isWriter) return null
  return html`<div class="tags" role="group" aria-label="Tags">
    ${icon('tag')}
    ${tags.map((tag) => html`<${Tag} key=${tag} project=${project} call=${call} tag=${tag} isWriter=${isWriter} onChange=${onChange} />`)}
    ${isWriter && html`<${NewTag} project=${project} call=${call} onChange=${onChange} />`}
  </div>`
}

interface TagProps extends TagsProps {
  readonly tag: string
  readonly isWriter: boolean
}

/** A tag leads to the calls that have it. */
function Tag({ project, call, tag, isWriter, onChange }: TagProps) {
  const { submit, failure } = useSubmit(async ({ currentTarget }) => {
    const button = currentTarget as Element
    await tagCalls(project, [call.id], { remove: [tag] })
    const neighbours = { item: '.tag', button: 'button', instead: 'input', within: '.tags' }
    focusNeighbour(button, neighbours)
    onChange()
  })
  const q = new URLSearchParams({
    q: printSearch([{ key: 'tag', operator: ':', values: [tag], isNot: false }]),
    all: '1',
  })
  return html`<span class="tag">
      <a href=${`${pathTo(project, 'calls')}?${q}`} title=${`Calls with the tag ${tag}`}>${tag}</a>
      ${isWriter && html`<button aria-label=${`Remove the tag ${tag}`} onClick=${submit}>${icon('x')}</button>`}
    </span>
    <${Failure} words=${failure} />`
}

function NewTag({ project, call, onChange }: TagsProps) {
  const [text, setText] = useState('')
  const [isUsed, setUsed] = useState(false)
  const { submit, failure } = useSubmit(async () => {
    await tagCalls(project, [call.id], { add: [text.trim()] })
    // What was typed meanwhile stays.
    setText((last) => (last === text ? '' : last))
    onChange()
  })
  return html`<form onSubmit=${submit}>
      <input
        aria-label="A tag"
        placeholder="add a tag"
        required
        maxlength=${TAG_CHARS_MAX}
        list="call-tags"
        value=${text}
        onFocus=${() => setUsed(true)}
        onInput=${textOf(setText)}
      />
      ${isUsed && html`<${KnownTags} project=${project} />`}
    </form>
    <${Failure} words=${failure} />`
}

function KnownTags({ project }: Pick<TagsProps, 'project'>) {
  const known = useLoad(project, (signal) => listTags(project, signal))
  return html`<datalist id="call-tags">${known.value?.map((tag) => html`<option key=${tag} value=${tag}></option>`)}</datalist>`
}
