/** Refs in values: strings that name an object, an op or a call, and where the page shows what they name. Pure. */
import { decodePart, pathTo, pathToVersion } from '../../shell/page-route.ts'

interface Ref {
  readonly project: string
  readonly kind: 'object' | 'op' | 'call' | 'table'
  /** Name of an object or op, id of a call, digest of a table. */
  readonly name: string
  /** Version of an object or op; '' for others. */
  readonly digest: string
  /** The remaining segments, as `attr/rows/id/<digest>`; '' when nothing does. */
  readonly edges: string
}

/** Longer texts are no refs. */
const REF_CHARS_MAX = 2048
const REF =
  /^[a-z][\w.+-]*:\/\/\/([^/\s]+\/[^/\s]+)\/(object|op|call|table)\/([^/:\s]+)(?::([^/\s]+))?(?:\/(\S*))?$/
const ROW = /^attr\/rows\/id\/([0-9a-zA-Z]+)$/
const DIGEST_CHARS_SHOWN = 6

/** Parses a ref; null for any other text. */
export function parseRef(value: unknown): Ref | null {
  if (typeof value !== 'string' || value.length > REF_CHARS_MAX) return null
  const [, project = '', kind = '', name = '', digest = '', edges = ''] = REF.exec(value) ?? []
  if (name === '') return null
  return { project, kind: kind as Ref['kind'], name: decodePart(name), digest, edges }
}

/** The address of what a ref names; null for what has no view of its own. */
export function pathOfRef({ project, kind, name, digest, edges }: Ref): string | null {
  if (kind === 'call') return pathTo(project, 'calls', name)
  if (kind === 'table') return null
  const path = pathToVersion(project, name, digest || 'latest', kind === 'op')
  const [, row] = ROW.exec(edges) ?? []
  return row === undefined ? path : `${path}?row=${row}`
}

/** Returns the label of a ref, as `name:1a2b3c`. */
export function refLabel({ name, digest, edges }: Ref): string {
  const version = digest === '' ? '' : `:${digest.slice(0, DIGEST_CHARS_SHOWN)}`
  const [, row] = ROW.exec(edges) ?? []
  const inside = row === undefined ? edges : `row ${row.slice(0, DIGEST_CHARS_SHOWN)}`
  return `${name}${version}${inside === '' ? '' : ` ${inside}`}`
}
