/** The body that goes upstream: the received text with what the upstream has to be told otherwise. */
import type { ChatCompletionRequest } from '../../schemas/chat-request.ts'
import { editMembers, findMember } from './request.ts'

/**
 * The text of a request for the upstream.
 *
 * @param body - the text as received: a JSON object, already parsed once without fault
 * @param model - the name that the upstream knows
 *
 * Spec: §4.3 (every field).
 * Choice: the received text is forwarded as it is, so that fields and digits that this server does not
 * know survive. A stream is always asked for its usage.
 */
export function renderUpstreamBody(
  body: string,
  request: ChatCompletionRequest,
  model: string,
): string {
  const set = new Map<string, string>()
  if (request.model !== model) set.set('model', JSON.stringify(model))
  if (request.stream === true && request.stream_options?.include_usage !== true) {
    set.set('stream_options', renderStreamOptions(findMember(body, 'stream_options')))
  }
  return editMembers(body, { set })
}

/** Usage in each chunk goes with include_usage alone: without it nobody asked for either. */
function renderStreamOptions(options: string | undefined): string {
  if (options === undefined || options === 'null') return '{"include_usage":true}'
  const set = new Map([['include_usage', 'true']])
  return editMembers(options, { set, remove: new Set(['continuous_usage_stats']) })
}
