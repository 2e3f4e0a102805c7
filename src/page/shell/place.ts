/** Addresses of views. Pure. */

export interface Place {
  readonly project: string
  readonly view: 'home' | 'calls' | 'trace' | 'playground'
  /** What the view shows: a call. */
  readonly subject: string | null
}

/** Addresses as the tracing SDKs print them: `/<entity>/<project>/weave/...` and `/<entity>/<project>/r/call/<id>`. */
export function parsePlace(path: string): Place | null {
  const [entity, name, kind, ...rest] = path.split('/').slice(1).map(decodeURIComponent)
  if (!entity || !name) return null
  const project = `${entity}/${name}`
  const [what = '', subject = null] = rest
  if (kind === 'r' && what === 'call') return { project, view: 'trace', subject }
  const isOne = subject !== null && subject !== ''
  if (what === 'calls' || what === 'traces')
    return { project, view: isOne ? 'trace' : 'calls', subject }
  if (what === 'playground') return { project, view: 'playground', subject: null }
  return { project, view: 'home', subject: null }
}

/** The address of a view of a project. */
export function pathTo(project: string, view = '', subject: string | null = null): string {
  const parts = [...project.split('/'), 'weave', view, subject ?? ''].filter((part) => part !== '')
  return `/${parts.map(encodeURIComponent).join('/')}`
}
