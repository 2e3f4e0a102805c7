/** The objects of a project by kind, each with its newest version. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { requestJson } from '../api/client.ts'
import { may } from '../api/session.ts'
import { NewDataset } from '../datasets/dataset-editor.ts'
import { formatCount, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Pending } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { NewPrompt } from '../prompts/prompt-editor.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, pathToVersion, type ViewProps } from '../shell/page-route.ts'
import { classLabel, KINDS, kindOf, type ObjectVersion } from './kinds.ts'

/** Limit: objects that are listed; the server gives no more at once. */
const OBJECTS_MAX = 10_000

/** The kind comes from the query, or from an address such as `.../weave/datasets`. */
export function Objects({ project, subject }: ViewProps) {
  const loaded = useLoad(project, (signal) => readNewest(project, signal))
  const objects = loaded.value ?? []
  const kind = query.value.get('kind') ?? subject ?? ''
  const title = KINDS.find((one) => one.kind === kind)?.label ?? 'Objects'
  const name = query.value.get('name') ?? ''
  const shown = useMemo(() => {
    const wanted = name.toLowerCase()
    return objects.filter(
      (object) =>
        (kind === '' || kindOf(object) === kind) && object.object_id.toLowerCase().includes(wanted),
    )
  }, [objects, kind, name])
  const made = may('traces:write') ? query.value.get('new') : null
  if (made === 'dataset') return html`<${NewDataset} project=${project} />`
  if (made === 'prompt') return html`<${NewPrompt} project=${project} />`
  if (loaded.value === null) return html`<${Pending} title=${title} loaded=${loaded} />`
  if (objects.length === 0) return html`<h1>${title}</h1><${FirstObject} project=${project} />`
  return html`<h1>${title}</h1>
    <${KindTabs} project=${project} objects=${objects} kind=${kind} />
    <div class="bar filters">
      <label>Name<input
        type="search"
        value=${name}
        onInput=${(event: InputEvent) => setQuery({ name: (event.target as HTMLInputElement).value })}
      /></label>
      <span class="push"></span>
      <${NewObject} project=${project} kind=${kind} />
    </div>
    ${objects.length === OBJECTS_MAX && html`<p class="notice">There are more objects; these are ${formatCount(OBJECTS_MAX)}.</p>`}
    <${Grid}
      label="Objects"
      columns=${COLUMNS}
      count=${shown.length}
      at=${(index: number) => shown[index]}
    />
    ${shown.length === 0 && html`<p class="notice">${name === '' ? 'No objects of this kind yet.' : 'No objects match the filter.'}</p>`}`
}

async function readNewest(
  project_id: string,
  signal: AbortSignal,
): Promise<readonly ObjectVersion[]> {
  const body = {
    project_id,
    filter: { latest_only: true },
    metadata_only: true,
    include_tags_and_aliases: true,
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    limit: OBJECTS_MAX,
  }
  return (await requestJson<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })).objs
}

const MADE_HERE = [
  { kind: 'datasets', name: 'dataset' },
  { kind: 'prompts', name: 'prompt' },
]

/** Links to what people make on the page. @param kind - '' for all */
function NewObject({ project, kind }: { readonly project: string; readonly kind: string }) {
  if (!may('traces:write')) return null
  return MADE_HERE.filter((made) => kind === '' || kind === made.kind).map(
    ({ kind: own, name }) =>
      html`<a key=${name} class="button" href=${`${pathTo(project, own)}?new=${name}`}>New ${name}</a>`,
  )
}

interface KindTabsProps {
  readonly project: string
  readonly objects: readonly ObjectVersion[]
  readonly kind: string
}

function KindTabs({ project, objects, kind }: KindTabsProps) {
  const counts = Map.groupBy(objects, kindOf)
  const tabs = [
    { kind: '', label: 'All', count: objects.length },
    ...KINDS.map((each) => ({ ...each, count: counts.get(each.kind)?.length ?? 0 })),
  ]
  const base = pathTo(project, 'objects')
  return html`<nav class="bar tabs" aria-label="Kinds of objects">
    ${tabs.map(
      (tab) =>
        html`<a
          class="tab"
          key=${tab.kind}
          href=${tab.kind === '' ? base : `${base}?kind=${tab.kind}`}
          aria-current=${tab.kind === kind ? 'page' : undefined}
        >${tab.label} <span class="faint">${formatCount(tab.count)}</span></a>`,
    )}
  </nav>`
}

const COLUMNS: readonly Column<ObjectVersion>[] = [
  {
    name: 'name',
    label: 'Name',
    width: 180,
    grow: 2,
    cell: (object) =>
      html`<a title=${object.object_id} href=${pathToVersion(object.project_id, object.object_id, object.digest, object.kind === 'op')}>${object.object_id}</a>`,
  },
  { name: 'class', label: 'Class', width: 120, grow: 1, cell: classLabel },
  {
    name: 'version',
    label: 'Newest',
    width: 70,
    isNumber: true,
    cell: ({ version_index }) => `v${version_index}`,
  },
  {
    name: 'published',
    label: 'Published',
    width: 150,
    cell: ({ created_at }) => formatTime(created_at, false),
  },
  { name: 'user', label: 'User', width: 100, cell: ({ svc_user_id }) => svc_user_id },
  {
    name: 'marks',
    label: 'Tags and aliases',
    width: 160,
    grow: 1,
    cell: (object) => html`<${Marks} object=${object} />`,
  },
]

export interface Mark {
  readonly kind: 'alias' | 'tag'
  readonly name: string
}

/** Tags, and aliases except `latest`, which is shown anyway. */
export function marksOf({ aliases = [], tags = [] }: ObjectVersion): readonly Mark[] {
  return [
    ...aliases
      .filter((name) => name !== 'latest')
      .map((name) => ({ kind: 'alias' as const, name })),
    ...tags.map((name) => ({ kind: 'tag' as const, name })),
  ]
}

export function Marks({ object }: { readonly object: ObjectVersion }) {
  return marksOf(object).map(
    ({ kind, name }) =>
      html`<span key=${`${kind} ${name}`} class=${`mark ${kind}`} title=${kind}>${name}</span>`,
  )
}

function FirstObject({ project }: { readonly project: string }) {
  const text = `import weave
weave.init("${project}")
weave.publish(weave.Dataset(name="questions", rows=[{"question": "Why?"}]))`
  return html`<section class="first">
    <h2>No objects yet</h2>
    <p>Ops are published when they are first called, datasets, models and prompts when a program says so:</p>
    <pre tabindex="0">${text}</pre>
    <div class="bar"><${NewObject} project=${project} kind="" /></div>
  </section>`
}
