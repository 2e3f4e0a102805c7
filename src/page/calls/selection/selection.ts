/** The selected calls of a list: single ones, or all of the search but some. Pure. */

export interface Selection {
  /** Whether all calls of the search are selected, but those of `ids`; else only those. */
  readonly isAll: boolean
  readonly ids: ReadonlySet<string>
}

export const NOTHING: Selection = { isAll: false, ids: new Set() }
export const EVERYTHING: Selection = { isAll: true, ids: new Set() }

export function isSelected({ isAll, ids }: Selection, id: string): boolean {
  return ids.has(id) !== isAll
}

/** @param count - calls of the search; null while it is unknown */
export function countSelected({ isAll, ids }: Selection, count: number | null): number | null {
  if (!isAll) return ids.size
  return count === null ? null : Math.max(0, count - ids.size)
}

export function isEmpty({ isAll, ids }: Selection): boolean {
  return !isAll && ids.size === 0
}

/** Selects calls, or removes them from the selection. */
export function withIds(
  selection: Selection,
  changed: readonly string[],
  isAdded: boolean,
): Selection {
  const ids = new Set(selection.ids)
  for (const id of changed) {
    if (isAdded === selection.isAll) ids.delete(id)
    else ids.add(id)
  }
  return { isAll: selection.isAll, ids }
}
