/** Opens, saves and deletes views of the list: the search, the time, the order and the columns under a name. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { deleteView, readSavedViews, saveView, VIEW_NAME_MAX } from '../api/saved-views.ts'
import { may } from '../api/session.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { icon } from '../parts/icon.ts'
import { Failure } from '../parts/notice.ts'
import { Menu } from '../parts/overlay/menu.ts'
import { query } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'

export function SavedViews({ project }: { readonly project: string }) {
  return html`<${Menu} words="Views"><${Choices} project=${project} /><//>`
}

/** The query of the address without what is open over the list, and without the zone, which is a setting of the reader. */
function searchNow(): string {
  const names = new URLSearchParams(query.value)
  for (const name of ['open', 'call', 'compare', 'zone']) names.delete(name)
  return String(names)
}

function Choices({ project }: { readonly project: string }) {
  const [turn, reload] = useState(0)
  const views = useLoad(project, (signal) => readSavedViews(project, signal), turn)
  const [name, setName] = useState('')
  const [note, setNote] = useState('')
  const search = searchNow()
  const { submit, failure } = useSubmit(async () => {
    await saveView(project, { name: name.trim(), search })
    setNote(`“${name.trim()}” is saved for everyone who reads the project.`)
    setName('')
    reload((last) => last + 1)
  })
  const [toDelete, setToDelete] = useState('')
  const removal = useSubmit(async () => {
    await deleteView(project, toDelete)
    setToDelete('')
    reload((last) => last + 1)
  })
  const path = pathTo(project, 'calls')
  return html`
    <ul class="views" aria-label="Saved views">
      ${views.value?.map(
        (view) => html`<li key=${view.name}>
        ${
          toDelete === view.name
            ? html`<form class="bar" onSubmit=${removal.submit}>
                <span>Delete “${view.name}” for everyone?</span>
                <button class="danger" onClick=${clickOnce}>Delete the view</button>
                <button type="button" onClick=${() => setToDelete('')}>Keep it</button>
              </form>`
            : html`<a href=${`${path}?${view.search}`} aria-current=${view.search === search ? 'page' : undefined}>${view.name}</a>
              ${may('traces:write') && html`<button type="button" class="quiet" aria-label=${`Delete the view ${view.name}`} onClick=${() => setToDelete(view.name)}>${icon('x')}</button>`}`
        }
      </li>`,
      )}
    </ul>
    ${views.value?.length === 0 && html`<p class="faint">No saved views yet. A view is the search, the time, the order and the columns.</p>`}
    ${
      may('traces:write') &&
      html`<form class="bar" onSubmit=${submit}>
      <input aria-label="Name of this view" placeholder="name of this view" required pattern=".*\\S.*" maxlength=${VIEW_NAME_MAX} value=${name} onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)} />
      <button onClick=${clickOnce}>${icon('save')} Save</button>
    </form>`
    }
    <span role="status" class="faint">${note}</span>
    <${Failure} words=${failure ?? removal.failure ?? views.failure} />`
}
