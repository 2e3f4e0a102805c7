/**
 * Edits of a request's JSON text. It must not be parsed and printed again, which would round 64-bit
 * integers and reorder keys: whatever is not edited stays as it came.
 */
import { findMembers, type MemberPlace } from '../../domain/json/json-members.ts'

const BYTE_ORDER_MARK = 0xfeff

/** What is to become of the outermost members of an object. */
export interface MemberEdits {
  /** Name to its new value, JSON text; a missing member is put first. */
  readonly set?: ReadonlyMap<string, string>
  /** Name to its new name. */
  readonly rename?: ReadonlyMap<string, string>
  readonly remove?: ReadonlySet<string>
}

/**
 * Edits members of a JSON object in its text; all other characters stay. Of equal names the last one
 * is set, as parsers read it, and all of them are renamed or removed.
 *
 * @param json - a valid object; a byte order mark is dropped
 * @param places - of its members where they are known; then it has no byte order mark
 */
export function editMembers(
  json: string,
  edits: MemberEdits,
  places?: readonly MemberPlace[],
): string {
  const text = withoutByteOrderMark(json)
  const { set = new Map(), rename = new Map(), remove = new Set() } = edits
  if (set.size + rename.size + remove.size === 0) return text
  const members = places ?? findMembers(text)
  const lastOf = new Map(members.map((member) => [member.name, member]))
  const added = [...set]
    .filter(([name]) => !lastOf.has(name))
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  const kept = members
    .map((member, index) => ({ ...member, index, isLast: lastOf.get(member.name) === member }))
    .filter(({ name }) => !remove.has(name))
  const pieces = kept.map((member) => {
    const { name, isLast } = member
    return renderMember(text, member, rename.get(name), isLast ? set.get(name) : undefined)
  })
  const body = pieces.map((piece, at) => gapBefore(text, kept[at - 1], kept[at]) + piece).join('')
  const open = members[0]?.nameStart ?? text.indexOf('{') + 1
  const close = members.at(-1)?.valueEnd ?? open
  const all = [...added, ...(body === '' ? [] : [body])].join(',')
  return text.slice(0, open) + all + text.slice(close)
}

/** Some clients send one; JSON has none. */
export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

/** The text of a value in a JSON object, or undefined; of equal names the last one. */
export function findMember(json: string, name: string): string | undefined {
  const member = findMembers(json).findLast((place) => place.name === name)
  return member && json.slice(member.valueStart, member.valueEnd)
}

function renderMember(
  text: string,
  { nameStart, valueStart, valueEnd }: MemberPlace,
  name: string | undefined,
  value: string | undefined,
): string {
  const head = name === undefined ? text.slice(nameStart, valueStart) : `${JSON.stringify(name)}:`
  return head + (value ?? text.slice(valueStart, valueEnd))
}

type IndexedPlace = MemberPlace & { readonly index: number }

/** What stands between two members: as it came where they were neighbours. */
function gapBefore(
  text: string,
  previous: IndexedPlace | undefined,
  next: IndexedPlace | undefined,
): string {
  if (previous === undefined || next === undefined) return ''
  if (next.index !== previous.index + 1) return ','
  return text.slice(previous.valueEnd, next.nameStart)
}
