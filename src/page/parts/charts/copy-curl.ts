/** Copies the request behind a chart, to be pasted into a shell. */
import { html } from 'htm/preact'
import { CopyButton } from '../copy-button.ts'

interface CopyCurlProps {
  readonly path: string
  /** Body of a POST; without one the request is a GET. */
  readonly body?: unknown
}

export function CopyCurl({ path, body }: CopyCurlProps) {
  return html`<${CopyButton} isQuiet words="copy as curl" text=${curlOf(path, body)} />`
}

/** Contains `$KEY` instead of the key. */
function curlOf(path: string, body: unknown): string {
  const who = path.startsWith('/v1/') ? '-H "authorization: Bearer $KEY"' : '-u "api:$KEY"'
  if (body === undefined) return `curl "${location.origin}${path}" ${who}`
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''")
  return `curl ${location.origin}${path} ${who} -H 'content-type: application/json' -d '${quoted}'`
}
