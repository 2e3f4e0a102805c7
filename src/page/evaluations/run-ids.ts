/** The runs that an address names, several in one value. */
import { query } from '../shell/location.ts'
import { decodePart } from '../shell/page-route.ts'

/** Ids may hold any character, the comma between them too. */
export function idsInAddress(): readonly string[] {
  const text = query.value.get('runs') ?? ''
  return text === '' ? [] : text.split(',').map(decodePart)
}

export function textOfIds(ids: readonly string[]): string {
  return ids.map(encodeURIComponent).join(',')
}
