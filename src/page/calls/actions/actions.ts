/** What can be done with the selected calls, or with all of the search while none is selected. */
import { html } from 'htm/preact'
import { may } from '../../api/session.ts'
import { icon } from '../../parts/icon.ts'
import { query } from '../../shell/location.ts'
import { pathTo } from '../../shell/page-route.ts'
import { printSearch } from '../search/search-text.ts'
import type { Target } from '../selection/selected-query.ts'
import { isEmpty } from '../selection/selection.ts'
import { AddRows } from './add-rows.ts'
import { AddToQueue } from './add-to-queue.ts'
import { DeleteCalls } from './delete-calls.ts'
import { ExportButtons } from './export-button.ts'
import { TagCalls } from './tag-calls.ts'

interface ActionsProps {
  readonly target: Target
  readonly onDeleted: () => void
  readonly onTagged: () => void
}

export function Actions({ target, onDeleted, onTagged }: ActionsProps) {
  const isAny = isEmpty(target.selection)
  return html`
    ${!isAny && may('traces:write') && html`<${AddRows} target=${target} />`}
    ${!isAny && may('traces:write') && html`<${TagCalls} target=${target} onTagged=${onTagged} />`}
    ${may('traces:write') && html`<${AddToQueue} target=${target} />`}
    ${may('training') && html`<${TrainLink} target=${target} />`}
    <${ExportButtons} target=${target} />
    ${!isAny && may('traces:write') && html`<${DeleteCalls} target=${target} onDeleted=${onDeleted} />`}`
}

/** Limit: single calls in the address of the form, which a server must accept. */
const IDS_MAX = 150

/** The form reads the calls from its address, as a search. */
function TrainLink({ target: { project, selection } }: { readonly target: Target }) {
  const path = pathTo(project, 'training', 'new')
  const words = html`${icon('graduation-cap')} Train on these`
  if (isEmpty(selection) || (selection.isAll && selection.ids.size === 0))
    return html`<a class="button" href=${`${path}?${query.value}`}>${words}</a>`
  if (selection.ids.size > IDS_MAX || selection.isAll)
    return html`<button disabled title=${`A job takes all calls of a search, or at most ${IDS_MAX} single ones.`}>${words}</button>`
  const q = printSearch([{ key: 'id', operator: ':', values: [...selection.ids], isNot: false }])
  return html`<a class="button" href=${`${path}?${new URLSearchParams({ q, all: '1' })}`}>${words}</a>`
}
