/** One object: its versions, what one of them holds, how it differs from another, and the calls that used it. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { formatCount, formatTime } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { go, query, setQuery } from '../shell/location.ts'
import { pathTo, pathToVersion, type ViewProps } from '../shell/page-route.ts'
import { Difference } from './difference.ts'
import { EditMarks } from './edit-marks.ts'
import { classLabel, type ObjectVersion, refOf } from './kinds.ts'
import { readVersion, readVersions } from './object-reads.ts'
import { Marks } from './objects.ts'
import { UsedBy } from './used-by.ts'
import { ObjectValue } from './value.ts'

export function ObjectView({ project, subject, version = 'latest' }: ViewProps) {
  const name = subject ?? ''
  const place = `${project} ${name}`
  const [turn, setTurn] = useState(0)
  const chosen = useLoad(
    `${place} ${version}`,
    (signal) => readVersion(project, name, version, signal),
    turn,
  )
  const versions = useLoad(place, (signal) => readVersions(project, name, signal), turn)
  const readAgain = () => {
    setTurn(turn + 1)
    // The alias in the address may be the one that was removed.
    const object = chosen.value
    if (object?.aliases?.includes(version) && version !== 'latest') {
      go(pathToVersion(project, name, object.digest, object.kind === 'op'))
    }
  }
  return html`<h1><a href=${pathTo(project, 'objects')}>Objects</a> / ${name}</h1>
    <${Failure} words=${chosen.failure ?? versions.failure} />
    <div class="object">
      ${!versions.value?.length ? html`<section class="versions"></section>` : html`<${Versions} versions=${versions.value} chosen=${chosen.value} />`}
      <${Chosen} loaded=${chosen} versions=${versions.value ?? []} onChanged=${readAgain} />
    </div>`
}

interface ChosenProps {
  readonly loaded: Loaded<ObjectVersion>
  readonly versions: readonly ObjectVersion[]
  /** Called when tags or aliases of the version have changed. */
  readonly onChanged: () => void
}

function Chosen({ loaded, versions, onChanged }: ChosenProps) {
  // A version must not be shown at the address of another.
  const object = loaded.failure === null ? loaded.value : null
  if (object === null) return html`<section>${loaded.isLoading && html`<${Loading} />`}</section>`
  const against = query.value.get('against')
  return html`<section class="content" aria-label="Version">
    <${Facts} object=${object} onChanged=${onChanged} />
    <${Against} object=${object} versions=${versions} />
    ${
      against === null
        ? html`<${ObjectValue} key=${object.digest} object=${object} />`
        : html`<${Difference} key=${`${against} ${object.digest}`} object=${object} against=${against} />`
    }
    <${UsedBy} key=${`used ${object.digest}`} object=${object} />
  </section>`
}

type FactsProps = Pick<ChosenProps, 'onChanged'> & { readonly object: ObjectVersion }

function Facts({ object, onChanged }: FactsProps) {
  const facts = [
    ['Class', classLabel(object)],
    ['Version', `v${object.version_index}`],
    ['Published', formatTime(object.created_at, false)],
    ['User', object.svc_user_id],
    [
      'Tags and aliases',
      html`<${EditMarks} key=${object.digest} object=${object} onChanged=${onChanged} />`,
    ],
    ['Ref', html`<code>${refOf(object)}</code>`],
  ]
  return html`<dl class="facts">
    ${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`
}

interface AgainstProps {
  readonly object: ObjectVersion
  readonly versions: readonly ObjectVersion[]
}

/** The choice of another version, from which the differences are shown. */
function Against({ object, versions }: AgainstProps) {
  const others = versions.filter(({ digest }) => digest !== object.digest)
  if (others.length === 0) return null
  const named = query.value.get('against') ?? ''
  const isNamed = (other: ObjectVersion) =>
    [other.digest, `v${other.version_index}`].includes(named)
  const change = (event: Event) =>
    setQuery({ against: (event.target as HTMLSelectElement).value }, { isStep: true })
  return html`<div class="bar">
    <label class="against">Differences from
      <select value=${others.find(isNamed)?.digest ?? ''} onChange=${change}>
        <option value="">(show the content)</option>
        ${others.map(
          ({ digest, version_index, created_at }) =>
            html`<option key=${digest} value=${digest}>v${version_index} · ${formatTime(created_at, false)}</option>`,
        )}
      </select>
    </label>
  </div>`
}

interface VersionsProps {
  readonly versions: readonly ObjectVersion[]
  readonly chosen: ObjectVersion | null
}

function Versions({ versions, chosen }: VersionsProps) {
  return html`<section class="versions" aria-label="Versions">
    <h2>${formatCount(versions.length)} ${versions.length === 1 ? 'version' : 'versions'}</h2>
    <${Grid}
      label="Versions"
      columns=${VERSION_COLUMNS}
      count=${versions.length}
      at=${(index: number) => versions[index]}
      isChosen=${({ digest }: ObjectVersion) => digest === chosen?.digest}
      rowsMax=${14}
    />
  </section>`
}

const VERSION_COLUMNS: readonly Column<ObjectVersion>[] = [
  {
    name: 'version',
    label: 'Version',
    width: 52,
    cell: (object) =>
      html`<a href=${pathToVersion(object.project_id, object.object_id, object.digest, object.kind === 'op')}>v${object.version_index}</a>`,
  },
  {
    name: 'published',
    label: 'Published',
    width: 150,
    cell: ({ created_at }) => formatTime(created_at, false),
  },
  {
    name: 'marks',
    label: 'Tags, aliases',
    width: 90,
    grow: 1,
    cell: (object) => html`<${Marks} object=${object} />`,
  },
]
