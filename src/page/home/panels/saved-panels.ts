/** The arrangement of an overview's panels, which all readers of the project see. */
import { useRef, useState } from 'preact/hooks'
import { errorText } from '../../api/client.ts'
import { deleteObject, readSavedObjects, saveObject } from '../../api/saved-objects.ts'
import { membersOf } from '../../api/wire.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { DEFAULT_PANELS, PANELS_MAX, type Panel, panelOf } from './panel.ts'

const CLASS = 'OverviewPanels'
const OBJECT_ID = 'overview-panels'

/** An entry as saved; members that this version of the page does not know stay. */
type Entry = Readonly<Record<string, unknown>> & { readonly id: string }

async function readEntries(project: string, signal?: AbortSignal): Promise<readonly Entry[]> {
  const [saved] = await readSavedObjects(project, CLASS, signal, [OBJECT_ID])
  if (!Array.isArray(saved?.panels)) return DEFAULT_PANELS.map(({ id }) => ({ id }))
  const entries = saved.panels.map(membersOf)
  return entries.filter((entry): entry is Entry => typeof entry.id === 'string')
}

function panelsOf(entries: readonly Entry[]): readonly Panel[] {
  return entries.flatMap((entry) => panelOf(entry) ?? []).slice(0, PANELS_MAX)
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

export interface Panels {
  /** Null while they load. */
  readonly shown: readonly Panel[] | null
  /** Why they could not be read or saved; null: they could. */
  readonly failure: string | null
  /** Saves a change that returns the panels after it. @returns whether it succeeded */
  readonly save: (change: () => Promise<readonly Panel[]>) => Promise<boolean>
}

/** Saves each change before the next one begins. */
export function usePanels(project: string): Panels {
  const loaded = useLoad(project, async (signal) => panelsOf(await readEntries(project, signal)))
  const [saved, setSaved] = useState({ project, panels: null as readonly Panel[] | null })
  const [failure, setFailure] = useState<string | null>(null)
  const last = useRef<Promise<unknown>>(Promise.resolve())
  const save = (change: () => Promise<readonly Panel[]>) => {
    const saving = last.current.then(async () => {
      setFailure(null)
      try {
        setSaved({ project, panels: await change() })
        return true
      } catch (error) {
        setFailure(errorText(error))
        return false
      }
    })
    last.current = saving
    return saving
  }
  const read = loaded.isOther ? null : (loaded.value ?? (loaded.failure && DEFAULT_PANELS))
  const changed = saved.project === project ? saved.panels : null
  return { shown: changed ?? (read || null), failure: failure ?? loaded.failure, save }
}
