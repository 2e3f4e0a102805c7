/** Feedback that people give on the page, in the kinds that the tracing SDKs know. */
import { requestJson } from './client.ts'
import { refScheme } from './ref-scheme.ts'
import { caller } from './session.ts'

export type Given =
  | { readonly kind: 'reaction'; readonly emoji: string }
  | { readonly kind: 'note'; readonly note: string }
  | { readonly kind: 'number'; readonly name: string; readonly value: number }

/** The name of a number that has none of its own. */
export const RATING = 'rating'

/** Type of thumbs and other reactions. */
export const THUMBS = 'wandb.reaction.1'

export interface FeedbackAbout {
  readonly project: string
  /** Id of the call. */
  readonly call: string
  /** Queue in which the call was rated. */
  readonly queue?: string
}

/** @throws ApiFailure */
export async function giveFeedback(about: FeedbackAbout, given: Given): Promise<void> {
  const { project, call, queue } = about
  // The route under /traces takes any ref; the spec's own route takes only objects.
  await requestJson('/traces/feedback/create', {
    project_id: project,
    weave_ref: `${refScheme()}:///${project}/call/${call}`,
    creator: caller.value?.svc_username,
    ...bodyOf(given),
    ...(queue === undefined ? {} : { queue_id: queue }),
  })
}

function bodyOf(given: Given): { feedback_type: string; payload: object } {
  switch (given.kind) {
    case 'reaction':
      return { feedback_type: THUMBS, payload: { emoji: given.emoji } }
    case 'note':
      return { feedback_type: 'wandb.note.1', payload: { note: given.note } }
    case 'number':
      return { feedback_type: given.name, payload: { value: given.value } }
    default:
      return given satisfies never
  }
}
