/** One object: its versions, what one of them holds, how it differs from another, and the calls that used it. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { may } from '../api/session.ts'
import { DatasetEditor } from '../datasets/dataset-editor.ts'
import { formatCount, formatTime } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { PromptEditor } from '../prompts/prompt-editor.ts'
import { go, query, setQuery } from '../shell/location.ts'
import { pathTo, pathToVersion, type ViewProps } from '../shell/page-route.ts'
import { Difference } from './difference.ts'
import { EditMarks } from './edit-marks.ts'
import { classLabel, kindOf, type ObjectVersion, refOf } from './kinds.ts'
import { readVersion, readVersions } from './object-reads.ts'
import { Marks } from './objects.ts'
import { UsedBy } from './used-by.ts'
import { ObjectValue } from './value.ts'
import { readMessages } from './version-message.ts'

export function ObjectView({ project, subject, version = 'latest' }: ViewProps) {
  const name = subject ?? ''
  const place = `${project} ${name}`
  const [turn, setTurn] = useState(0)
  const chosen = useLoad(
    `${place} ${version}`,
    (signal) => readVersion(project, name, version, signal),
    turn,
  )
  // Again for each version that is shown: it may have been saved a moment ago.
  const versions = useLoad(
    place,
    (signal) => readVersions(project, name, signal),
    `${turn} ${version}`,
  )
  const all = versions.value ?? []
  const messages = useLoad(
    `${place} ${all.length} ${all[0]?.digest}`,
    (signal) => readMessages(all, signal),
    turn,
  )
  const readAgain = () => {
    setTurn((last) => last + 1)
    // The alias in the address may be the one that was removed.
    const object = chosen.value
    if (object?.aliases?.includes(version) && version !== 'latest') {
      go(pathToVersion(project, name, object.digest, object.kind === 'op'))
    }
  }
  return html`<h1>${name}</h1>
    <${Failure} words=${chosen.failure ?? versions.failure ?? messages.failure} />
    <div class="object">
      ${!versions.value?.length ? html`<section class="versions"></section>` : html`<${Versions} versions=${all} chosen=${chosen.value} messages=${messages.value ?? NO_MESSAGES} />`}
      <${Chosen} loaded=${chosen} versions=${all} message=${chosen.value && messages.value?.get(refOf(chosen.value))} onChanged=${readAgain} />
    </div>`
}

interface ChosenProps {
  readonly loaded: Loaded<ObjectVersion>
  readonly versions: readonly ObjectVersion[]
  /** What the version changed, in words. */
  readonly message?: string | null
  /** Called when tags or aliases of the version have changed. */
  readonly onChanged: () => void
}

function Chosen({ loaded, versions, message, onChanged }: ChosenProps) {
  // A version must not be shown at the address of another.
  const object = loaded.failure === null ? loaded.value : null
  if (object === null) return html`<section>${loaded.isLoading && html`<${Loading} />`}</section>`
  const against = query.value.get('against')
  const Editor = query.value.get('edit') === '1' ? editorOf(object) : null
  if (Editor !== null)
    return html`<section class="content" aria-label="Edit"><${Editor} key=${object.object_id} project=${object.project_id} name=${object.object_id} object=${object} /></section>`
  return html`<section class="content" aria-label="Version">
    <${Facts} object=${object} versions=${versions} message=${message} onChanged=${onChanged} />
    <${Against} object=${object} versions=${versions} />
    ${
      against === null
        ? html`<${ObjectValue} key=${object.digest} object=${object} />`
        : html`<${Difference} key=${`${against} ${object.digest}`} object=${object} against=${against} />`
    }
    <${UsedBy} key=${`used ${object.digest}`} object=${object} versions=${versions} />
  </section>`
}

/** The editor of what people write on the page; null for other objects, and for keys that may not write. */
function editorOf(object: ObjectVersion) {
  if (!may('traces:write')) return null
  return { datasets: DatasetEditor, prompts: PromptEditor }[kindOf(object)] ?? null
}

type FactsProps = Omit<ChosenProps, 'loaded'> & { readonly object: ObjectVersion }

function Facts({ object, versions, message, onChanged }: FactsProps) {
  const facts = [
    ['Class', classLabel(object)],
    ['Version', `v${object.version_index}`],
    ['Published', formatTime(object.created_at, false)],
    ['User', object.svc_user_id],
    ['Message', message ?? '–'],
    [
      'Tags and aliases',
      html`<${EditMarks} key=${object.digest} object=${object} versions=${versions} onChanged=${onChanged} />`,
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
  const isEditable = editorOf(object) !== null
  const named = query.value.get('against') ?? ''
  const isNamed = (other: ObjectVersion) =>
    [other.digest, `v${other.version_index}`].includes(named)
  const change = (event: Event) =>
    setQuery({ against: (event.target as HTMLSelectElement).value }, { isStep: true })
  const { project_id, object_id, digest } = object
  const isPrompt = kindOf(object) === 'prompts'
  // Rows are changed in the latest version; the text of any prompt can be the next version.
  const edited = pathToVersion(project_id, object_id, isPrompt ? digest : 'latest')
  const tried = new URLSearchParams({ prompt: `${object_id}:${digest}` })
  return html`<div class="bar">
    ${isEditable && html`<a class="button" href=${`${edited}?edit=1`}>Edit</a>`}
    ${isPrompt && may('inference') && html`<a class="button" href=${`${pathTo(project_id, 'playground')}?${tried}`}>Try in the playground</a>`}
    ${
      others.length > 0 &&
      html`<label class="against">Differences from
      <select value=${others.find(isNamed)?.digest ?? ''} onChange=${change}>
        <option value="">(show the content)</option>
        ${others.map(
          ({ digest, version_index, created_at }) =>
            html`<option key=${digest} value=${digest}>v${version_index} · ${formatTime(created_at, false)}</option>`,
        )}
      </select>
    </label>`
    }
  </div>`
}

const NO_MESSAGES: ReadonlyMap<string, string> = new Map()

interface VersionsProps {
  readonly versions: readonly ObjectVersion[]
  /** By the ref of the version. */
  readonly messages: ReadonlyMap<string, string>
  readonly chosen: ObjectVersion | null
}

function Versions({ versions, chosen, messages }: VersionsProps) {
  return html`<section class="versions" aria-label="Versions">
    <h2>${formatCount(versions.length)} ${versions.length === 1 ? 'version' : 'versions'}</h2>
    <${Grid}
      label="Versions"
      columns=${messages.size === 0 ? VERSION_COLUMNS : [...VERSION_COLUMNS, messageColumn(messages)]}
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

function messageColumn(messages: ReadonlyMap<string, string>): Column<ObjectVersion> {
  return {
    name: 'message',
    label: 'Message',
    width: 120,
    grow: 1,
    cell: (object) => {
      const message = messages.get(refOf(object))
      return html`<span title=${message}>${message}</span>`
    },
  }
}
