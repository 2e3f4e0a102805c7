/** The page's location: all state that a link should carry is in the address. */
import { computed, signal } from '@preact/signals'
import { type PageRoute, parsePageRoute, parseServerView } from './page-route.ts'

const address = signal(new URL(location.href))

export const query = computed(() => address.value.searchParams)

/** Null for the address without a project. */
export const pageRoute = computed<PageRoute | null>(() => parsePageRoute(address.value.pathname))

/** The view of the server itself that the address names; null for all else. */
export const serverView = computed(() => parseServerView(address.value.pathname))

let isBack = false

/** Whether this address was reached by the browser's back or forward button. */
export function cameBack(): boolean {
  return isBack
}

export function go(href: string): void {
  const next = new URL(href, address.value)
  // The back button should not lead to the current address.
  write(next, next.href !== address.value.href)
  scrollTo(0, 0)
}

/** @param isStep - whether to add a history entry */
function write(next: URL, isStep: boolean): void {
  isBack = false
  try {
    if (isStep) history.pushState(null, '', next)
    else history.replaceState(null, '', next)
  } catch {
    // Browsers refuse many changes in a short time. The next accepted one includes this one.
  }
  address.value = next
}

interface QueryChange {
  /** Whether to add a history entry. Default false. */
  readonly isStep?: boolean
}

/** Changes the query of the address; null removes a name. */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  { isStep = false }: QueryChange = {},
): void {
  const next = new URL(address.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  if (next.href !== address.value.href) write(next, isStep)
}

/** Makes links inside the page change the view without loading anything. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    isBack = true
    address.value = new URL(location.href)
  })
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="/"]')
    if (link === null || link.target !== '' || link.pathname.startsWith('/docs')) return
    event.preventDefault()
    go(link.href)
  })
}
