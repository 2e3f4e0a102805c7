/** What is asked of an upstream: the path behind its address, and the body for it. */
import type { CompletionCall, EmbeddingCall, TextCall } from '../backend.ts'
import type { TargetModel } from './field-edits.ts'
import type { Profile } from './profiles.ts'
import { editMembers } from './request.ts'
import { renderUpstreamBody } from './upstream-body.ts'

/** What is asked, at whichever upstream. */
export interface Ask extends Pick<CompletionCall, 'model' | 'requestId' | 'onUpstream'> {
  readonly path: string
  readonly isStream: boolean
  /** The body for an upstream. */
  render(target: TargetModel): string
}

export function askChat(profile: Profile, call: CompletionCall): Ask {
  const { request, body } = call
  return {
    ...call,
    path: '/chat/completions',
    isStream: request.stream === true,
    render: (target) => renderUpstreamBody(body, request, target, profile),
  }
}

export function askEmbeddings(call: EmbeddingCall): Ask {
  const render = ({ model }: TargetModel) =>
    editMembers(call.body, { set: new Map([['model', JSON.stringify(model)]]) })
  return { ...call, path: '/embeddings', isStream: false, render }
}

/** Usage is asked for in streams too: the server counts it, and hides it where the client did not ask. */
export function askText({ request, ...call }: TextCall): Ask {
  const isStream = request.stream === true
  const options = JSON.stringify({ ...request.stream_options, include_usage: true })
  const render = ({ model }: TargetModel) => {
    const set = new Map([['model', JSON.stringify(model)]])
    return editMembers(call.body, { set: isStream ? set.set('stream_options', options) : set })
  }
  return { ...call, path: '/completions', isStream, render }
}
