/** Limit of bodies without content: ids, filters, settings. */
import type { App } from '../app-type.ts'

/**
 * Limit: bytes of a body without content. The largest lists are 1,000 refs of 2,048 characters. Values are checked on
 * the event loop, which takes seconds for 32 MiB of them.
 */
export const QUERY_BODY_BYTES_MAX = 4 * 1024 * 1024

/**
 * Limits the bodies of a scope's routes, except routes that take content. Must be called before the routes are added.
 */
export function limitSmallBodies(scope: App, bodyBytesMax: number): void {
  scope.addHook('onRoute', (route) => {
    const { keepsLongNumbers, keepsBodyText, takesContent } = route.config ?? {}
    if (keepsLongNumbers || keepsBodyText || takesContent) return
    route.bodyLimit ??= Math.min(QUERY_BODY_BYTES_MAX, bodyBytesMax)
  })
}
