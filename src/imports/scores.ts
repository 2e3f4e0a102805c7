/** Scores, assessments and annotations of other tools as feedback about calls. */
import { callRef } from '../domain/calls/call-ref.ts'
import { type Feedback, resolveFeedback } from '../domain/feedback/new-feedback.ts'
import { hashedUuid } from '../domain/objects/hashed-uuid.ts'
import { ApiError } from '../errors.ts'
import type { FeedbackCreateRequest } from '../schemas/feedback/feedback.ts'
import { IMPORT_USER, type ImportTarget } from './source.ts'

const NOTE_CHARS_MAX = 1024
/** Limits: characters of a type and of an author. */
const TYPE_CHARS_MAX = 128
const CREATOR_CHARS_MAX = 256

interface ImportedScore {
  /** The tool, and the id of the score there. */
  readonly tool: string
  readonly id: string
  readonly call_id: string
  readonly name: string
  readonly created_at_us: number
  readonly creator: string | null
  /** What it says; undefined members are left out. */
  readonly payload: Readonly<Record<string, unknown>>
  /** A text that is all it says; becomes a note if it is short enough. */
  readonly note?: unknown
}

/** The feedback of a score, whose type is its name; null for a payload that is too large. */
export function toScoreFeedback(score: ImportedScore, target: ImportTarget): Feedback | null {
  const { tool, id, call_id, name, created_at_us, creator, note } = score
  const { project_id, refScheme } = target
  const isNote = typeof note === 'string' && note !== '' && [...note].length <= NOTE_CHARS_MAX
  const given = Object.entries(score.payload).filter(([, value]) => value !== undefined)
  const request = {
    project_id,
    weave_ref: callRef(refScheme, project_id, call_id),
    feedback_type: isNote ? 'wandb.note' : typeOf(name),
    creator: creator === null ? null : nameOf(creator, CREATOR_CHARS_MAX),
    payload: { ...Object.fromEntries(given), ...(isNote ? { note } : {}) },
  }
  return tryFeedback(request, { id: hashedUuid(['import', tool, id]), created_at_us }, target)
}

/** Why feedback is left out. */
export const TOO_LARGE = 'feedback whose payload is too large'

/** Null for a payload that is too large. */
export function tryFeedback(
  request: FeedbackCreateRequest,
  given: { readonly id: string; readonly created_at_us: number },
  { feedbackPayloadBytesMax }: ImportTarget,
): Feedback | null {
  const { svc_user_id } = IMPORT_USER
  try {
    return resolveFeedback(request, { ...given, svc_user_id }, feedbackPayloadBytesMax)
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/** Types that begin with `wandb.` have rules. */
function typeOf(name: string): string {
  const type = nameOf(name, TYPE_CHARS_MAX) ?? 'score'
  return type.startsWith('wandb.') ? type.replace('.', '_') : type
}

/** A text as a name, which has no control characters and may be cut; null when nothing is left. */
export function nameOf(text: string, charsMax: number): string | null {
  const name = text.replace(/[\p{Cc}\p{Cs}]/gu, ' ').trim()
  return name === '' ? null : name.slice(0, charsMax).toWellFormed()
}
