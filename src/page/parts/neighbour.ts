/** Where the focus goes when what has it goes away. */

interface Neighbours {
  /** What goes away, and its like beside it. */
  readonly item: string
  /** What has the focus in each. */
  readonly button: string
  /** Has the focus where nothing of its like is left. */
  readonly instead: string
  /** Around all of that. */
  readonly within: string
}

/** Leads the focus to the item behind that of a button, else to the one before it; nowhere when it has gone on already. */
export function focusNeighbour(from: Element, { item, button, instead, within }: Neighbours): void {
  const own = from.closest(item)
  if (own === null || !own.contains(document.activeElement)) return
  const beside = [own.nextElementSibling, own.previousElementSibling]
    .filter((element) => element?.matches(item))
    .map((element) => element?.querySelector<HTMLElement>(button))
    .find(Boolean)
  const next = beside ?? own.closest(within)?.querySelector<HTMLElement>(instead)
  next?.focus()
}
