/** The body that goes upstream: the received text with what the engine has to be told otherwise. */
import { splitMembers } from '../../domain/json-members.ts'
import type { ChatCompletionRequest } from '../../schemas/chat-request.ts'
import type { Profile } from './profiles.ts'
import { editMembers } from './request.ts'

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
  const members = splitMembers(body)
  const set = new Map<string, string>()
  const rename = new Map<string, string>()
  const remove = new Set<string>()
  for (const [name, rule] of Object.entries(profile)) {
    const sent = members.get(name)
    const text = sent === 'null' ? undefined : sent
    if (rule === 'pass') continue
    if (typeof rule === 'string') remove.add(name)
    else if ('rename' in rule && text === undefined) remove.add(name)
    else if ('rename' in rule) rename.set(name, rule.rename)
    else {
      for (const [key, value] of Object.entries(rule.edit({ text, request, model }))) {
        if (value === null) remove.add(key)
        else if (value !== undefined) set.set(key, value)
      }
    }
  }
  return editMembers(body, { set, rename, remove })
}
