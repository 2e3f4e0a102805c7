/** The projects that the key may see, and the one that is shown. */
import { computed, effect } from '@preact/signals'
import { caller } from '../api/session.ts'
import { pageRoute, serverView } from '../shell/location.ts'

const NAME = 'weft.project'
effect(() => {
  if (pageRoute.value !== null) localStorage.setItem(NAME, pageRoute.value.project)
})

/** The project that is shown, and beside a view of the server the last one; null where a project is chosen. */
export const lastProject = computed<string | null>(() => {
  if (pageRoute.value !== null) return pageRoute.value.project
  if (serverView.value === null) return null
  const known = caller.value?.projects ?? []
  const last = localStorage.getItem(NAME) ?? ''
  return known.includes(last) ? last : (known[0] ?? null)
})

/** The projects of the key whose names contain a text; the shown one also before its first call. */
export function projectsWith(text: string): readonly string[] {
  const here = lastProject.value
  const known = caller.value?.projects ?? []
  const all = here === null || known.includes(here) ? known : [here, ...known]
  return all.filter((project) => project.toLowerCase().includes(text.trim().toLowerCase()))
}
