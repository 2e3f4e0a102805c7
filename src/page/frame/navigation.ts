/** The links of the rail: the views of a project in groups, and those of the server. */
import { caller, may } from '../api/session.ts'
import type { IconName } from '../parts/icon-names.ts'
import { type PageRoute, pathTo, type View } from '../shell/page-route.ts'

export interface ViewLink {
  /** Address within the project; of a link of the server the whole address. */
  readonly path: string
  readonly label: string
  readonly icon: IconName
  /** Views at which the link is the current one. */
  readonly views: readonly View[]
  /** Kind of objects that the link lists. */
  readonly subject?: string
  /** That a key needs for the view. Default: traces:read. */
  readonly scope?: string
  /** Pressed after `g`, it opens the view. */
  readonly key?: string
}

interface LinkGroup {
  readonly label: string
  readonly links: readonly ViewLink[]
}

const GROUPS: readonly LinkGroup[] = [
  {
    label: 'Observe',
    links: [
      { path: '', label: 'Overview', icon: 'layout-dashboard', views: ['home'], key: 'o' },
      { path: 'calls', label: 'Traces', icon: 'list-tree', views: ['calls', 'trace'], key: 't' },
      {
        path: 'threads',
        label: 'Conversations',
        icon: 'messages-square',
        views: ['threads', 'thread'],
        key: 'c',
      },
      { path: 'users', label: 'Users', icon: 'user', views: ['users', 'user'], key: 'w' },
    ],
  },
  {
    label: 'Evaluate',
    links: [
      {
        path: 'evaluations',
        label: 'Evaluations',
        icon: 'flask-conical',
        views: ['evaluations', 'evaluation', 'compare', 'new-evaluation', 'leaderboard'],
        key: 'e',
      },
      {
        path: 'evaluators',
        label: 'Evaluators',
        icon: 'scale',
        views: ['evaluators'],
        key: 'v',
      },
      {
        path: 'datasets',
        label: 'Datasets',
        icon: 'database',
        views: ['objects'],
        subject: 'datasets',
        key: 'd',
      },
      {
        path: 'queues',
        label: 'Queues',
        icon: 'list-checks',
        views: ['queues', 'queue'],
        key: 'q',
      },
      { path: 'feedback', label: 'Feedback', icon: 'thumbs-up', views: ['feedback'], key: 'f' },
    ],
  },
  {
    label: 'Build',
    links: [
      {
        path: 'prompts',
        label: 'Prompts',
        icon: 'scroll-text',
        views: ['objects'],
        subject: 'prompts',
        key: 'p',
      },
      {
        path: 'playground',
        label: 'Playground',
        icon: 'terminal',
        views: ['playground'],
        scope: 'inference',
        key: 'y',
      },
      { path: 'objects', label: 'Objects', icon: 'box', views: ['objects', 'object'], key: 'b' },
    ],
  },
  {
    label: 'Train',
    links: [
      {
        path: 'training',
        label: 'Training',
        icon: 'graduation-cap',
        views: ['training'],
        scope: 'training',
        key: 'r',
      },
    ],
  },
  {
    label: 'Settings',
    links: [
      {
        path: 'alerts',
        label: 'Alerts',
        icon: 'bell',
        views: ['alerts'],
        scope: 'admin',
        key: 'n',
      },
      {
        path: 'settings',
        label: 'Project',
        icon: 'sliders-horizontal',
        views: ['settings'],
        key: 's',
      },
    ],
  },
]

/** Views of the server, which belong to no project. */
const SERVER_LINKS: readonly ViewLink[] = [
  { path: '/keys', label: 'Keys', icon: 'key-round', views: [], scope: 'admin', key: 'k' },
  { path: '/people', label: 'People', icon: 'users', views: [], scope: 'admin', key: 'l' },
  { path: '/budgets', label: 'Budgets', icon: 'coins', views: [], scope: 'admin', key: 'u' },
  { path: '/models', label: 'Models', icon: 'cpu', views: [], scope: 'admin', key: 'm' },
  { path: '/audit', label: 'Audit', icon: 'history', views: [], scope: 'admin', key: 'a' },
]

/** Whether the key has the scope of a view; all have, until the key's are known. */
function isUseful({ scope = 'traces:read' }: ViewLink): boolean {
  return caller.value === null || may(scope)
}

/** The groups whose views the key may use. */
export function groupsOfProject(): readonly LinkGroup[] {
  return GROUPS.map(({ label, links }) => ({ label, links: links.filter(isUseful) })).filter(
    ({ links }) => links.length > 0,
  )
}

/** The views of the server that the key may use. */
export function serverLinks(): readonly ViewLink[] {
  return SERVER_LINKS.filter(({ scope = '' }) => may(scope))
}

/** The links that have a key, of those that may be used. @param project - null where none is chosen */
export function linksWithKeys(project: string | null): readonly ViewLink[] {
  const ofProject = project === null ? [] : groupsOfProject()
  const links = [...ofProject.flatMap((group) => group.links), ...serverLinks()]
  return links.filter(({ key }) => key !== undefined)
}

/** @param project - of the link; ignored by those of the server */
export function hrefOf({ path }: ViewLink, project: string): string {
  return path.startsWith('/') ? path : pathTo(project, path)
}

/** The link of a view; undefined for an address that names no view. */
export function linkOf({ view, subject }: PageRoute): ViewLink | undefined {
  const links = GROUPS.flatMap((group) => group.links).filter(({ views }) => views.includes(view))
  return links.find((link) => link.subject === subject) ?? links.find((link) => !link.subject)
}

/** The link of a view of the server. */
export function linkOfServer(name: string): ViewLink | undefined {
  return SERVER_LINKS.find(({ path }) => path === `/${name}`)
}
