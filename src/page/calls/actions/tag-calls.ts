/** Adds a tag to the selected calls, or removes it from them. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { listTags, TAG_CHARS_MAX, tagCalls } from '../../api/tags.ts'
import { formatCalls } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { clickOnce, textOf, useSubmit } from '../../parts/hooks/use-submit.ts'
import { Menu } from '../../parts/overlay/menu.ts'
import { groupsOf, readSelectedIds } from '../selection/selected-calls.ts'
import type { Target } from '../selection/selected-query.ts'

interface TagCallsProps {
  readonly target: Target
  /** Called when calls have got or lost tags. */
  readonly onTagged: () => void
}

export function TagCalls(props: TagCallsProps) {
  return html`<${Menu} words="Tag"><${Choice} ...${props} /><//>`
}

function Choice({ target, onTagged }: TagCallsProps) {
  const { project } = target
  const known = useLoad(project, (signal) => listTags(project, signal))
  const [text, setText] = useState('')
  const [note, setNote] = useState<string | null>(null)
  const change = async (name: 'add' | 'remove') => {
    setNote('…')
    let count = 0
    try {
      for (const ids of groupsOf(await readSelectedIds(target))) {
        const counts = await tagCalls(project, ids, { [name]: [text.trim()] })
        count += counts.added_count + counts.removed_count
        setNote(`${formatCalls(count)} …`)
      }
      setNote(`${name === 'add' ? 'added to' : 'removed from'} ${formatCalls(count)}`)
    } catch (error) {
      setNote(null)
      throw error
    } finally {
      if (count > 0) onTagged()
    }
  }
  const { submit, failure } = useSubmit((event) => {
    const { submitter } = event as SubmitEvent
    return change(submitter?.getAttribute('value') === 'remove' ? 'remove' : 'add')
  })
  return html`<form class="fields" onSubmit=${submit}>
    <label>Tag
      <input required maxlength=${TAG_CHARS_MAX} list="bulk-tags" value=${text} onInput=${textOf(setText)} />
    </label>
    <datalist id="bulk-tags">${known.value?.map((tag) => html`<option key=${tag} value=${tag}></option>`)}</datalist>
    <div class="bar">
      <button class="main" onClick=${clickOnce}>Add the tag</button>
      <button value="remove" onClick=${clickOnce}>Remove it</button>
    </div>
    <span role="status">${failure ?? note ?? known.failure}</span>
  </form>`
}
