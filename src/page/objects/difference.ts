/** Shows the differences between two versions: members, rows and code. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { RefLink } from '../parts/values/ref-link.ts'
import { parseRef, pathOfRef } from '../parts/values/refs.ts'
import { ChangeList } from './change-list.ts'
import type { ObjectVersion } from './kinds.ts'
import { readRows, readText, readVersion, sourceOf, tableOf } from './object-reads.ts'
import { RowDifference } from './row-difference.ts'
import { TextDifference } from './text-difference.ts'
import { listChanges } from './value-changes.ts'

/** Limit: rows of a table that are compared. */
const ROWS_MAX = 10_000

interface DifferenceProps {
  readonly object: ObjectVersion
  /** Digest of the version selected at first. */
  readonly against: string
}

export function Difference({ object, against }: DifferenceProps) {
  const { project_id, object_id, digest } = object
  const other = useLoad(`${project_id} ${object_id} ${against}`, (signal) =>
    readVersion(project_id, object_id, against, signal),
  )
  const before = other.value
  if (before === null)
    return html`<${Failure} words=${other.failure} />${other.isLoading && html`<${Loading} />`}`
  if (before.digest === digest) return html`<p class="notice">It is the same version.</p>`
  const [from, to] = [tableOf(before.val), tableOf(object.val)]
  const [oldSource, source] = [sourceOf(before.val), sourceOf(object.val)]
  return html`<h2 class="apart">From v${before.version_index} to v${object.version_index}</h2>
    <${Members} before=${before.val} after=${object.val} />
    ${source !== null && oldSource !== null && source !== oldSource && html`<${CodeDifference} project=${project_id} before=${oldSource} after=${source} />`}
    ${from !== null && to !== null && from !== to && html`<${TableDifference} project=${project_id} before=${from} after=${to} />`}`
}

function Members({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const changes = useMemo(() => listChanges(before, after), [before, after])
  if (changes.length === 0)
    return html`<p class="notice">The contents have the same fields and values.</p>`
  return html`<${ChangeList} changes=${changes} />
    ${changes.map(({ path, before, after }) => html`<${OtherObject} key=${path} path=${path} before=${before} after=${after} />`)}`
}

interface OtherObjectProps {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** A member that refers to another version of another object shows the differences of that object. */
function OtherObject({ path, before, after }: OtherObjectProps) {
  const [from, to] = [parseRef(before), parseRef(after)]
  if (from === null || to === null || from.name !== to.name || from.kind !== to.kind) return null
  const address = to.digest === '' ? null : pathOfRef({ ...to, edges: '' })
  if (address === null) return null
  return html`<p>${path}: <a href=${`${address}?against=${encodeURIComponent(from.digest)}`}>differences of ${to.name}</a>
    (<${RefLink} value=${before} /> → <${RefLink} value=${after} />)</p>`
}

interface PairProps {
  readonly project: string
  /** Digests. */
  readonly before: string
  readonly after: string
}

function CodeDifference({ project, before, after }: PairProps) {
  const loaded = useLoad(`${project} ${before} ${after}`, (signal) =>
    Promise.all([readText(project, before, signal), readText(project, after, signal)]),
  )
  if (loaded.value === null)
    return html`<${Failure} words=${loaded.failure} />${loaded.isLoading && html`<${Loading} />`}`
  const [old, text] = loaded.value
  return html`<h2 class="apart">Code</h2><${TextDifference} before=${old} after=${text} />`
}

function TableDifference({ project, before, after }: PairProps) {
  const loaded = useLoad(`${project} ${before} ${after}`, (signal) =>
    Promise.all(
      [before, after].map((digest) => readRows(project, digest, { limit: ROWS_MAX }, signal)),
    ),
  )
  if (loaded.value === null)
    return html`<${Failure} words=${loaded.failure} />${loaded.isLoading && html`<${Loading} />`}`
  const [old = [], rows = []] = loaded.value
  const isCut = Math.max(old.length, rows.length) === ROWS_MAX
  return html`<h2 class="apart">Rows</h2>
    ${isCut && html`<p class="notice">Only the first ${formatCount(ROWS_MAX)} rows are compared.</p>`}
    <${RowDifference} before=${old} after=${rows} />`
}
