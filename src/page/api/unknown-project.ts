/** The project to which nothing was ever written, according to the last response about it. */
import { signal } from '@preact/signals'

export const unknownProject = signal<string | null>(null)

/** @param header - x-weft-project of a response; null if absent */
export function noteProject(body: unknown, header: string | null): void {
  const { project_id = null } = (body ?? {}) as { readonly project_id?: string | null }
  if (project_id === null) return
  if (header === 'unknown') unknownProject.value = project_id
  else if (unknownProject.value === project_id) unknownProject.value = null
}
