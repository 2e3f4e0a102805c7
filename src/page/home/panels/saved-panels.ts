/** The arrangement of an overview's panels, which all readers of the project see. */
import { deleteObject, readSavedObjects, saveObject } from '../../api/saved-objects.ts'
import { membersOf } from '../../api/wire.ts'
import { DEFAULT_PANELS, type Panel, panelOf } from './panel.ts'

const CLASS = 'OverviewPanels'
const OBJECT_ID = 'overview-panels'

/** An entry as saved; members that this version of the page does not know stay. */
type Entry = Readonly<Record<string, unknown>> & { readonly id: string }

async function readEntries(project: string, signal?: AbortSignal): Promise<readonly Entry[]> {
  const [saved] = await readSavedObjects(project, CLASS, signal)
  if (!Array.isArray(saved?.panels)) return DEFAULT_PANELS.map(({ id }) => ({ id }))
  const entries = saved.panels.map(membersOf)
  return entries.filter((entry): entry is Entry => typeof entry.id === 'string')
}

function panelsOf(entries: readonly Entry[]): readonly Panel[] {
  return entries.flatMap((entry) => panelOf(entry) ?? [])
}

/** Returns the panels of a project in their order. @throws ApiFailure */
export async function readPanels(project: string, signal: AbortSignal): Promise<readonly Panel[]> {
  return panelsOf(await readEntries(project, signal))
}

/**
 * Changes the newest arrangement, so that what others have changed meanwhile stays.
 *
 * @returns the panels after it
 * @throws ApiFailure
 */
export async function changePanels(
  project: string,
  change: (entries: readonly Entry[]) => readonly Entry[],
): Promise<readonly Panel[]> {
  const panels = change(await readEntries(project))
  await saveObject(project, CLASS, OBJECT_ID, { panels })
  return panelsOf(panels)
}

/** Brings back the charts that are built in, and removes all others. @throws ApiFailure */
export async function resetPanels(project: string): Promise<readonly Panel[]> {
  await deleteObject(project, OBJECT_ID)
  return DEFAULT_PANELS
}
