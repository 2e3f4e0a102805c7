/** Addresses of views. Pure. */

export type View =
  | 'home'
  | 'calls'
  | 'trace'
  | 'threads'
  | 'thread'
  | 'users'
  | 'user'
  | 'feedback'
  | 'queues'
  | 'queue'
  | 'evaluations'
  | 'evaluation'
  | 'compare'
  | 'new-evaluation'
  | 'leaderboard'
  | 'evaluators'
  | 'objects'
  | 'object'
  | 'playground'
  | 'training'
  | 'alerts'
  | 'settings'
  | 'server'
  | 'projects'
  | 'unknown'

export interface PageRoute {
  readonly project: string
  readonly view: View
  /**
   * What the view shows: a call, a thread, an end user, a queue, a training job or `new`, an object by its name, a kind of objects;
   * of an unknown view the rest of its address.
   */
  readonly subject: string | null
  /** Version of an object: `latest`, `v` and a number, a digest or an alias. */
  readonly version?: string
}

/** The props of each view. */
export type ViewProps = Omit<PageRoute, 'view'>

/** By the word in the address: the list view, and the view of one item. */
const VIEWS: ReadonlyMap<string, readonly [View, View]> = new Map(
  Object.entries({
    calls: ['calls', 'trace'],
    traces: ['calls', 'trace'],
    threads: ['threads', 'thread'],
    users: ['users', 'user'],
    feedback: ['feedback', 'feedback'],
    queues: ['queues', 'queue'],
    evaluations: ['evaluations', 'evaluation'],
    leaderboards: ['evaluations', 'leaderboard'],
    evaluators: ['evaluators', 'evaluators'],
    objects: ['objects', 'object'],
    playground: ['playground', 'playground'],
    training: ['training', 'training'],
    alerts: ['alerts', 'alerts'],
    settings: ['settings', 'settings'],
  }),
)

/** Names of lists of objects of one kind. */
const OBJECT_KINDS = ['datasets', 'models', 'ops', 'prompts', 'scorers']

/**
 * Parses addresses that the tracing SDKs print: `/<entity>/<project>/weave`, `.../weave/objects/<name>/versions/<digest>`,
 * `.../weave/ops/...`, `.../weave/leaderboards/<name>` and `.../r/call/<id>`; and those of the page itself.
 */
export function parsePageRoute(path: string): PageRoute | null {
  const [entity, name, kind, ...rest] = path.split('/').slice(1).map(decodePart)
  if (!entity || !name) return null
  const project = `${entity}/${name}`
  const [what = '', subject = '', word = '', version = ''] = rest
  if (kind !== 'r' && what === '') return { project, view: 'home', subject: null }
  const isKind = OBJECT_KINDS.includes(what)
  if (isKind && subject === '') return { project, view: 'objects', subject: what }
  if ((isKind || what === 'objects') && subject !== '') {
    const isVersion = word === 'versions' && version !== ''
    return { project, view: 'object', subject, version: isVersion ? version : 'latest' }
  }
  if (what === 'evaluations' && subject === 'compare')
    return { project, view: 'compare', subject: null }
  if (what === 'evaluations' && subject === 'new')
    return { project, view: 'new-evaluation', subject: null }
  const views = kind === 'r' ? what === 'call' && VIEWS.get('calls') : VIEWS.get(what)
  if (!views) return { project, view: 'unknown', subject: [kind, ...rest].join('/') }
  const [all, one] = views
  return subject === '' ? { project, view: all, subject: null } : { project, view: one, subject }
}

const SERVER_VIEWS = ['keys', 'people', 'budgets', 'audit', 'models', 'account'] as const
type ServerSubject = (typeof SERVER_VIEWS)[number]

/** What is shown of the server itself, which has no project: `/keys`, `/people`, `/budgets`, `/audit`, `/models`, `/account`. */
export function parseServerView(path: string): ServerSubject | null {
  return SERVER_VIEWS.find((name) => path === `/${name}` || path === `/${name}/`) ?? null
}

/** Decodes a part of an address; an invalid encoding is left unchanged. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The address of a view of a project. */
export function pathTo(project: string, view = '', subject: string | null = null): string {
  const parts = [...project.split('/'), 'weave', view, subject ?? ''].filter((part) => part !== '')
  return `/${parts.map(encodeURIComponent).join('/')}`
}

/** The address of a version of an object or op, as the SDKs print it. */
export function pathToVersion(
  project: string,
  name: string,
  version: string,
  isOp = false,
): string {
  const path = pathTo(project, isOp ? 'ops' : 'objects', name)
  return `${path}/versions/${encodeURIComponent(version)}`
}
