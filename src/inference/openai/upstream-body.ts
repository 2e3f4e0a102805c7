/** The body that goes upstream: the received text with what the engine has to be told otherwise. */
import { findMembers, type MemberPlace } from '../../domain/json-members.ts'
import type { ChatCompletionRequest } from '../../schemas/chat-request.ts'
import type { FieldContext } from './field-edits.ts'
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
  /** Looked for when the first of them is asked for: most requests have no field to edit. */
  let places: readonly MemberPlace[] | undefined
  const set = new Map<string, string>()
  const rename = new Map<string, string>()
  const remove = new Set<string>()
  const drop = (name: string) => {
    if (Object.hasOwn(request, name)) remove.add(name)
  }
  for (const [name, rule] of listActiveRules(profile)) {
    // Null is the same as absent.
    const isSent = (request[name] ?? null) !== null
    if (typeof rule === 'string') drop(name)
    else if ('rename' in rule && isSent) rename.set(name, rule.rename)
    else if ('rename' in rule) drop(name)
    else {
      const context: FieldContext = {
        get text() {
          if (!isSent) return undefined
          places ??= findMembers(text)
          return textOf(text, places, name)
        },
        request,
        model,
      }
      for (const [key, edit] of Object.entries(rule.edit(context))) {
        if (edit === null) drop(key)
        else if (edit !== undefined) set.set(key, edit)
      }
    }
  }
  return editMembers(text, { set, rename, remove }, places)
}

/** The text of a member's value, of equal names the last one. */
function textOf(text: string, places: readonly MemberPlace[], name: string): string | undefined {
  const place = places.findLast((member) => member.name === name)
  return place && text.slice(place.valueStart, place.valueEnd)
}

type ActiveRule = readonly [name: keyof ChatCompletionRequest, rule: Exclude<FieldRule, 'pass'>]

/** The rules of a profile that do something, so that a request meets no others. */
const ACTIVE_RULES = new WeakMap<Profile, readonly ActiveRule[]>()

function listActiveRules(profile: Profile): readonly ActiveRule[] {
  const known = ACTIVE_RULES.get(profile)
  if (known !== undefined) return known
  const names = Object.keys(profile) as (keyof ChatCompletionRequest)[]
  const rules = names.flatMap((name): ActiveRule[] => {
    const rule = profile[name]
    return rule === 'pass' ? [] : [[name, rule]]
  })
  ACTIVE_RULES.set(profile, rules)
  return rules
}
