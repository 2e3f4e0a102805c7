/**
 * Edits the JSON text of a request. It must not be parsed and printed again, which would round 64-bit
 * integers and reorder keys: whatever is not edited stays verbatim.
 */
import { findMembers, type MemberPosition } from '../../domain/json/json-members.ts'

/** Edits of the top-level members of an object. */
export interface MemberEdits {
  /** Maps a name to its new value, JSON text; a missing member is inserted first. */
  readonly set?: ReadonlyMap<string, string>
  /** Maps a name to its new name. */
  readonly rename?: ReadonlyMap<string, string>
  readonly remove?: ReadonlySet<string>
}

/**
 * Edits members of a JSON object in its text; all other characters stay. If a name is repeated, the
 * last member is set, since parsers read that one; renaming and removing applies to all of them.
 *
 * @param text - a valid object
 * @param places - positions of its members if known
 */
export function editMembers(
  text: string,
  edits: MemberEdits,
  places?: readonly MemberPosition[],
): string {
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

/** Returns the text of a value in a JSON object, or undefined; the last one if the name is repeated. */
export function findMember(json: string, name: string): string | undefined {
  const member = findMembers(json).findLast((place) => place.name === name)
  return member && json.slice(member.valueStart, member.valueEnd)
}

function renderMember(
  text: string,
  { nameStart, valueStart, valueEnd }: MemberPosition,
  name: string | undefined,
  value: string | undefined,
): string {
  const head = name === undefined ? text.slice(nameStart, valueStart) : `${JSON.stringify(name)}:`
  return head + (value ?? text.slice(valueStart, valueEnd))
}

type IndexedPlace = MemberPosition & { readonly index: number }

/** Returns the text between two members: verbatim if they were neighbours. */
function gapBefore(
  text: string,
  previous: IndexedPlace | undefined,
  next: IndexedPlace | undefined,
): string {
  if (previous === undefined || next === undefined) return ''
  if (next.index !== previous.index + 1) return ','
  return text.slice(previous.valueEnd, next.nameStart)
}
