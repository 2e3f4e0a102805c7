/** Fields for the name and the message of a version, and the notice of a newer version, in the editors of objects. */
import { html } from 'htm/preact'
import { ApiFailure } from '../api/client.ts'
import { formatTime } from '../parts/format.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import { pathToVersion } from '../shell/page-route.ts'
import type { ObjectVersion } from './kinds.ts'
import { readVersion } from './object-reads.ts'
import { MESSAGE_CHARS_MAX } from './version-message.ts'

interface FieldProps {
  readonly value: string
  readonly onInput: (text: string) => void
}

/** The name of a new object. */
export function NameField({ label, value, onInput }: FieldProps & { readonly label: string }) {
  return html`<label>${label}<input required maxlength="128" pattern="[\\p{L}\\p{N}_.\\-]+" title="letters, digits, _ . and -" value=${value} onInput=${textOf(onInput)} /></label>`
}

export function MessageField({ value, onInput }: FieldProps) {
  return html`<label>What this version changes, in words<input maxlength=${MESSAGE_CHARS_MAX} placeholder="optional" value=${value} onInput=${textOf(onInput)} /></label>`
}

interface ConflictProps {
  /** The version that is edited; null: the object was new. */
  readonly base: ObjectVersion | null
  readonly newer: ObjectVersion
  readonly onMove: (event: Event) => void
}

/** A newer version that somebody else has published while one edits an older one. */
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

interface Saving {
  readonly project_id: string
  readonly object_id: string
  /** The version on top of which it is published; null: the object is new. */
  readonly latest: ObjectVersion | null
  /** Publishes the version. @returns its digest @throws ApiFailure object_conflict, when another version is the latest */
  readonly publish: () => Promise<string>
  /** Whether the changes can be moved to a version of somebody else. */
  readonly canMoveTo: (newer: ObjectVersion) => boolean
}

/**
 * @returns the version that was published, or the one of somebody else that is the latest
 * @throws ApiFailure; Error when the content is that of an old version, or the name that of another object
 */
export async function saveVersion(
  saving: Saving,
): Promise<ObjectVersion | { readonly newer: ObjectVersion }> {
  const { project_id, object_id, latest, publish, canMoveTo } = saving
  const { signal } = new AbortController()
  try {
    const made = await readVersion(project_id, object_id, await publish(), signal)
    if (latest !== null && made.version_index <= latest.version_index)
      throw new Error(oldVersionText(made, latest, 'these changes'))
    return made
  } catch (error) {
    if (!(error instanceof ApiFailure && error.code === 'object_conflict')) throw error
    const newer = await readVersion(project_id, object_id, 'latest', signal)
    if (canMoveTo(newer)) return { newer }
    throw new Error(`${object_id} is the name of another object: choose another one.`)
  }
}

/** Equal contents are one version, which stays where it is. @param what - what was changed */
export function oldVersionText(made: ObjectVersion, latest: ObjectVersion, what: string): string {
  const [old, last] = [made, latest].map(({ version_index }) => `v${version_index}`)
  return `With ${what} the content is that of ${old}, so there is no new version: the latest is still ${last}, without ${what}.`
}
