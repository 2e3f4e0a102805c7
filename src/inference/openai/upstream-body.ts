/** The body that goes upstream: the received text with what the engine has to be told otherwise. */
import { findMembers, type MemberPlace } from '../../domain/json-members.ts'
import type { ChatCompletionRequest } from '../../schemas/chat-request.ts'
import type { FieldRule, Profile } from './profiles.ts'
import { editMembers, withoutByteOrderMark } from './request.ts'

/**
 * The text of a request for the upstream.
 *
 * @param body - the text as received: a JSON object, already parsed once without fault
 * @param request - the same, parsed; it uses nothing that the profile rejects
 * @param model - the name that the upstream knows
 * @throws ApiError unsupported_parameter, invalid_value for values that the engine has no word for
 *
 * Spec: §4.3 (every field).
 * Choice: the received text is edited, not printed anew, so that fields and digits that this server does
 * not know survive.
 */
export function renderUpstreamBody(
  body: string,
  request: ChatCompletionRequest,
  model: string,
  profile: Profile,
): string {
  const text = withoutByteOrderMark(body)
  const places = findMembers(text)
  const sent = new Map(places.map((place) => [place.name, place]))
  const set = new Map<string, string>()
  const rename = new Map<string, string>()
  const remove = new Set<string>()
  for (const [name, rule] of listActiveRules(profile)) {
    const value = sentValue(text, sent.get(name))
    if (typeof rule === 'string') remove.add(name)
    else if ('rename' in rule && value === undefined) remove.add(name)
    else if ('rename' in rule) rename.set(name, rule.rename)
    else {
      for (const [key, edit] of Object.entries(rule.edit({ text: value, request, model }))) {
        if (edit === null) remove.add(key)
        else if (edit !== undefined) set.set(key, edit)
      }
    }
  }
  return editMembers(text, { set, rename, remove }, places)
}

/** The text of a member's value; undefined for null, which is the same as absent. */
function sentValue(text: string, place: MemberPlace | undefined): string | undefined {
  if (place === undefined) return undefined
  const value = text.slice(place.valueStart, place.valueEnd)
  return value === 'null' ? undefined : value
}

type ActiveRule = readonly [name: string, rule: Exclude<FieldRule, 'pass'>]

/** The rules of a profile that do something, so that a request meets no others. */
const ACTIVE_RULES = new WeakMap<Profile, readonly ActiveRule[]>()

function listActiveRules(profile: Profile): readonly ActiveRule[] {
  const known = ACTIVE_RULES.get(profile)
  if (known !== undefined) return known
  const rules = Object.entries(profile).filter((entry): entry is [string, ActiveRule[1]] => {
    return entry[1] !== 'pass'
  })
  ACTIVE_RULES.set(profile, rules)
  return rules
}
