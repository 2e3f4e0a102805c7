/** A stretch of time of a project's feedback. */

/** As the address has it, with the times that it stands for now. */
export interface FeedbackWindow {
  readonly project_id: string
  readonly start: string
  readonly end: string
  readonly feedback_type: string | null
}
