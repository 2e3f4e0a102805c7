/** The panels of an overview: loads them, and saves each change before the next one begins. */
import { useRef, useState } from 'preact/hooks'
import { errorText } from '../../api/client.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { DEFAULT_PANELS, type Panel } from './panel.ts'
import { readPanels } from './saved-panels.ts'

export interface Panels {
  /** Null while they load. */
  readonly shown: readonly Panel[] | null
  /** Why they could not be read or saved; null: they could. */
  readonly failure: string | null
  /** Saves a change that returns the panels after it. @returns whether it succeeded */
  readonly save: (change: () => Promise<readonly Panel[]>) => Promise<boolean>
}

export function usePanels(project: string): Panels {
  const loaded = useLoad(project, (signal) => readPanels(project, signal))
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
