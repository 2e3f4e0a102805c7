/** Moves the focus when the focused element is removed. */

interface Neighbours {
  /** Selector of the removed item and its siblings. */
  readonly item: string
  /** Selector of the focusable button in each item. */
  readonly button: string
  /** Selector of the element to focus if no sibling is left. */
  readonly instead: string
  /** Selector of a common ancestor. */
  readonly within: string
  /** Whether the items are keyed by their index: then the content moves up, and the last element is removed. Default false. */
  readonly isKeyedByIndex?: boolean
}

/** Focuses the next sibling of a button's item, else the previous one; does nothing if the focus has moved already. */
export function focusNeighbour(from: Element, neighbours: Neighbours): void {
  const { item, button, instead, within, isKeyedByIndex = false } = neighbours
  const own = from.closest(item)
  if (own === null || !own.contains(document.activeElement)) return
  const following = own.nextElementSibling
  const isLast = !following?.matches(item)
  const beside = [isKeyedByIndex && !isLast ? own : following, own.previousElementSibling]
    .filter((element) => element?.matches(item))
    .map((element) => element?.querySelector<HTMLElement>(button))
    .find(Boolean)
  const next = beside ?? own.closest(within)?.querySelector<HTMLElement>(instead)
  next?.focus()
}
