/** All routes of an app, also those that the document hides, read from the router's own tree. */
import type { App } from '../../src/http/app-type.ts'

interface ListedRoute {
  readonly method: string
  /** With `x` for each parameter. */
  readonly url: string
}

export function listRoutes(app: App): ListedRoute[] {
  const parents: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', path = '', methods = ''] =
        /^(.*?[├└]── )(.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? []
      const depth = indent.length / 4
      if (depth === 0) return []
      parents.splice(depth - 1, Infinity, path)
      const url = parents.join('').replaceAll(/:\w+/g, 'x').replaceAll(/\/?\*/g, '/x')
      const taken = methods.split(', ').filter((method) => method !== '')
      return taken.map((method) => ({ method, url }))
    })
}
