/** What the command palette offers for a text. */
import { requestLines } from '../api/client.ts'
import { may, signOut } from '../api/session.ts'
import type { Call } from '../api/wire.ts'
import { lastProject, projectsWith } from '../frame/known-projects.ts'
import { groupsOfProject, hrefOf, serverLinks, type ViewLink } from '../frame/navigation.ts'
import { toggleRail } from '../frame/rail.ts'
import type { IconName } from '../parts/icon-names.ts'
import { go } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { timeMode } from '../shell/settings.ts'
import { chooseTimeMode } from '../shell/zone.ts'
import { openSheet } from './open-sheet.ts'

export interface Command {
  readonly group: string
  readonly label: string
  readonly icon: IconName
  /** The keys that do the same. */
  readonly hint?: string
  /** @throws Error that says what was not found */
  readonly run: () => void | Promise<void>
}

/** Limit: projects that are offered. */
const PROJECTS_MAX = 8
/** Shorter texts are parts of names. */
const ID_CHARS_MIN = 6

export function commandsFor(text: string): readonly Command[] {
  const wanted = text.trim()
  const has = ({ label }: Command) => label.toLowerCase().includes(wanted.toLowerCase())
  const project = lastProject.value
  return [
    ...viewCommands(project).filter(has),
    ...projectsWith(wanted).slice(0, PROJECTS_MAX).map(projectCommand),
    ...actions().filter(has),
    ...(project === null || wanted === '' || !may('traces:read')
      ? []
      : searchCommands(project, wanted)),
  ]
}

function viewCommands(project: string | null): Command[] {
  const of = (group: string, link: ViewLink): Command => ({
    group,
    label: link.label,
    icon: link.icon,
    ...(link.key === undefined ? {} : { hint: `g ${link.key}` }),
    run: () => go(hrefOf(link, project ?? '')),
  })
  const groups = project === null ? [] : groupsOfProject()
  return [
    ...groups.flatMap(({ links }) => links.map((link) => of('Views', link))),
    ...serverLinks().map((link) => of('Server', link)),
  ]
}

function projectCommand(project: string): Command {
  return { group: 'Projects', label: project, icon: 'folder', run: () => go(pathTo(project)) }
}

function actions(): Command[] {
  const other = timeMode.value === 'UTC' ? 'local' : 'UTC'
  const actions: Omit<Command, 'group'>[] = [
    { label: 'All projects', icon: 'layout-grid', run: () => go('/') },
    {
      label: other === 'UTC' ? 'Show times in UTC' : 'Show local times',
      icon: 'globe',
      run: () => chooseTimeMode(other),
    },
    { label: 'Collapse or expand the menu', icon: 'panel-left', hint: '[', run: toggleRail },
    { label: 'API', icon: 'book-open', run: () => location.assign('/docs') },
    // The palette closes itself after this.
    { label: 'Keyboard shortcuts', icon: 'keyboard', hint: '?', run: () => openSheet('help') },
    { label: 'Sign out', icon: 'log-out', run: signOut },
  ]
  return actions.map((action) => ({ group: 'Actions', ...action }))
}

function searchCommands(project: string, wanted: string): Command[] {
  const search: Command = {
    group: 'Calls',
    label: `Calls that contain “${wanted}”`,
    icon: 'search',
    run: () => go(`${pathTo(project, 'calls')}?${new URLSearchParams({ text: wanted, all: '1' })}`),
  }
  if (wanted.length < ID_CHARS_MIN || /\s/.test(wanted)) return [search]
  const open: Command = {
    group: 'Calls',
    label: `The call or trace ${wanted}`,
    icon: 'hash',
    run: () => openCall(project, wanted),
  }
  return [open, search]
}

/** Opens a call by its own id, or the root of a trace by that of the trace. */
async function openCall(project_id: string, id: string): Promise<void> {
  const filters = [{ call_ids: [id] }, { trace_ids: [id], trace_roots_only: true }]
  for (const filter of filters) {
    const body = { project_id, filter, columns: ['id'], limit: 1 }
    const [call] = await Array.fromAsync(requestLines<Call>('/calls/stream_query', body))
    if (call !== undefined) return go(pathTo(project_id, 'calls', call.id))
  }
  throw new Error(`${project_id} has no call and no trace with this id.`)
}
