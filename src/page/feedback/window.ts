/** A time range of a project's feedback. */

/** The window in the address, with its current times. */
export interface FeedbackWindow {
  readonly project_id: string
  readonly start: string
  readonly end: string
  readonly feedback_type: string | null
}
