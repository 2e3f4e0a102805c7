/** A newer version that somebody else has published while one edits an older one. */
import { html } from 'htm/preact'
import type { ObjectVersion } from '../objects/kinds.ts'
import { formatTime } from '../parts/format.ts'
import { pathToVersion } from '../shell/page-route.ts'

interface ConflictProps {
  /** The version that is edited; null: the object was new. */
  readonly base: ObjectVersion | null
  readonly newer: ObjectVersion
  readonly onMove: (event: Event) => void
}

export function Conflict({ base, newer, onMove }: ConflictProps) {
  const { project_id, object_id, version_index, svc_user_id, created_at } = newer
  const address = pathToVersion(project_id, object_id, newer.digest)
  const against = base === null ? '' : `?against=${encodeURIComponent(base.digest)}`
  return html`<div class="notice failure" role="alert">
    <p>Nothing is saved: ${svc_user_id ?? 'somebody'} published v${version_index} of ${object_id} at ${formatTime(created_at, false)}.
      Your changes are still here. <a href=${`${address}${against}`} target="_blank">${base === null ? `Show v${version_index}` : `What v${version_index} changed`}</a></p>
    <button type="button" onClick=${onMove}>Continue from v${version_index} with my changes</button>
  </div>`
}
