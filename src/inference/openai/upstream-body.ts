/** Builds the body for an upstream: the received text, edited where the engine needs another form. */
import { findMembers, type MemberPosition } from '../../domain/json/json-members.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { FieldContext, FieldName, TargetModel } from './field-edits.ts'
import type { FieldRule, Profile } from './profiles.ts'
import { editMembers, type MemberEdits, withoutByteOrderMark } from './request.ts'

/**
 * Returns the text of a request for the upstream.
 *
 * @param body - the received text: a JSON object that has already been parsed successfully
 * @param request - the same, parsed; it uses nothing that the profile rejects
 * @param target - the model at the upstream
 * @throws ApiError unsupported_parameter, invalid_value for values that the engine cannot express
 *
 * Spec: §4.3 (every field).
 * Choice: the received text is edited, not printed anew, so that fields and digits that this server does
 * not know survive.
 */
export function renderUpstreamBody(
  body: string,
  request: ChatCompletionRequest,
  target: TargetModel,
  profile: Profile,
): string {
  const text = withoutByteOrderMark(body)
  /** Searched only when the first text is needed: most requests have no field to edit. */
  let places: readonly MemberPosition[] | undefined
  const textOf = (name: FieldName) => {
    if (!isSent(request, name)) return undefined
    places ??= findMembers(text)
    const place = places.findLast((member) => member.name === name)
    return place && text.slice(place.valueStart, place.valueEnd)
  }
  const changes = listChanges({ ...target, request, textOf }, profile)
  return changes.length === 0 ? text : editMembers(text, toMemberEdits(changes), places)
}

/** A member to remove, set to a JSON text, or rename. */
interface Change {
  readonly kind: 'remove' | 'set' | 'rename'
  readonly name: string
  /** The text, or the new name. */
  readonly to: string
}

function listChanges(context: FieldContext, profile: Profile): Change[] {
  const { request } = context
  const changes: Change[] = []
  const remove = (name: string) => {
    if (Object.hasOwn(request, name)) changes.push({ kind: 'remove', name, to: '' })
  }
  for (const [name, rule] of listActiveRules(profile)) {
    if (typeof rule === 'string') {
      remove(name)
    } else if ('edit' in rule) {
      for (const [key, to] of Object.entries(rule.edit(context))) {
        if (to === null) remove(key)
        else if (to !== undefined) changes.push({ kind: 'set', name: key, to })
      }
    } else if (isSent(request, name)) {
      changes.push({ kind: 'rename', name, to: rule.rename })
    } else {
      remove(name)
    }
  }
  return changes
}

/** Null is the same as absent. */
function isSent(request: ChatCompletionRequest, name: FieldName): boolean {
  return request[name] !== undefined && request[name] !== null
}

function toMemberEdits(changes: readonly Change[]): MemberEdits {
  const set = new Map<string, string>()
  const rename = new Map<string, string>()
  const remove = new Set<string>()
  for (const { kind, name, to } of changes) {
    if (kind === 'remove') remove.add(name)
    else if (kind === 'set') set.set(name, to)
    else rename.set(name, to)
  }
  return { set, rename, remove }
}

type ActiveRule = readonly [name: FieldName, rule: Exclude<FieldRule, 'pass'>]

/** The rules of each profile other than `pass`, cached so that a request visits only these. */
const ACTIVE_RULES = new WeakMap<Profile, readonly ActiveRule[]>()

function listActiveRules(profile: Profile): readonly ActiveRule[] {
  const known = ACTIVE_RULES.get(profile)
  if (known !== undefined) return known
  const names = Object.keys(profile) as FieldName[]
  const rules = names.flatMap((name): ActiveRule[] => {
    const rule = profile[name]
    return rule === 'pass' ? [] : [[name, rule]]
  })
  ACTIVE_RULES.set(profile, rules)
  return rules
}
