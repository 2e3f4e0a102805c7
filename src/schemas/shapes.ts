/** The shapes of project ids and refs, checked without Zod: the threads of the store need no more of the schemas. */

/** A segment of a project id or a ref: visible, without the characters that structure a ref. */
export const SEGMENT = '[^\\s/\\\\#?%:\\p{C}](?:[^/\\\\#?%:\\p{C}]{0,126}[^\\s/\\\\#?%:\\p{C}])?'
export const PROJECT_ID = new RegExp(`^${SEGMENT}/${SEGMENT}$`, 'u')
/** The end of a ref of a call: its id, which may have spaces inside as ids of clients have, and edges. */
export const CALL_TAIL = '[^\\s/\\p{C}](?:[^/\\p{C}]*[^\\s/\\p{C}])?(?:/[^/\\s\\p{C}]+)*'
const REF_TAIL = /^[^\s/\p{C}]+(?:\/[^/\s\p{C}]+)*$/u
const CALL_REF_TAIL = new RegExp(`^${CALL_TAIL}$`, 'u')
export const PROJECT_ID_CHARS_MAX = 257

/** Returns whether a text is a project id, by the same check as ProjectId but without a message. */
export function isProjectId(text: string): boolean {
  return text.length <= PROJECT_ID_CHARS_MAX && PROJECT_ID.test(text)
}

const TAG_CHARS_MAX = 64
const TAG = /^[^\p{C}\s"*,](?:[^\p{C}"*,]*[^\p{C}\s"*,])?$/u
export const TAG_RULE = `must have 1 to ${TAG_CHARS_MAX} visible characters without " * ,`

/** Whether a text is a tag of a call. The signs that it lacks have a meaning in searches. */
export function isTag(text: string): boolean {
  return [...text].length <= TAG_CHARS_MAX && TAG.test(text)
}

export type RefKind = 'object' | 'op' | 'call'

/**
 * Whether a text is a ref of one of the kinds: `<scheme>:///<entity>/<project>/<kind>/<name>:<digest>`,
 * a call ref ends in the call's id. Object refs may go on with `/attr/name`-like edges.
 *
 * Spec: §2.1. Choice: any scheme is a ref here, because clients of other deployments send theirs.
 */
export function isRefShape(text: string, kinds: readonly RefKind[]): boolean {
  const match = /^[a-z][a-z0-9+.-]*:\/\/\/([^/]+\/[^/]+)\/(object|op|call)\/(.+)$/u.exec(text)
  if (!match) return false
  const [, project, kind, tail] = match as unknown as [string, string, RefKind, string]
  if (!kinds.includes(kind) || !PROJECT_ID.test(project)) return false
  if (kind === 'call') return CALL_REF_TAIL.test(tail)
  const name = tail.split('/')[0] ?? ''
  return REF_TAIL.test(tail) && /^[^:]+:[^:]+$/u.test(name)
}
