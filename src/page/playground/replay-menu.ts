/** A menu of models, with any of which a recorded call is replayed. */
import { html } from 'htm/preact'
import { requestJson } from '../api/client.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Loading } from '../parts/notice.ts'
import { Menu } from '../parts/overlay/menu.ts'
import { go } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'

/** Address of the replay that was requested and has not begun. An address alone requests none: a link would cost money. */
let requested: string | null = null

/** Whether the replay at this address was requested on the page; once for each request. */
export function takeReplay(): boolean {
  const isRequested = requested === `${location.pathname}${location.search}`
  requested = null
  return isRequested
}

interface ReplayMenuProps {
  readonly project: string
  /** Id of the call. */
  readonly call: string
}

export function ReplayMenu(props: ReplayMenuProps) {
  return html`<${Menu} words="Replay with"><${Models} ...${props} /><//>`
}

function Models({ project, call }: ReplayMenuProps) {
  const models = useLoad('models', (signal) =>
    requestJson<{ data: { id: string }[] }>('/v1/models', undefined, { signal }),
  )
  const replay = (model: string) => {
    requested = `${pathTo(project, 'playground')}?${new URLSearchParams({ call, model })}`
    go(requested)
  }
  return html`<span role="status">${models.isLoading ? html`<${Loading} />` : models.failure}</span>
    ${models.value?.data.map(({ id }) => html`<button key=${id} onClick=${() => replay(id)}>${id}</button>`)}`
}
