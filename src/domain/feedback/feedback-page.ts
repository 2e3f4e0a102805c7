/** Writes a page of feedback as text, within a size limit. Pure. */
import { ApiError } from '../../errors.ts'
import type { RowQuery } from '../query/row-query.ts'
import { type FeedbackRow, renderFeedbackRow } from './feedback-view.ts'

/** Limit: characters of one response, some 0.2 s of work for the event loop. */
const ANSWER_CHARACTERS_MAX = 16 * 1024 * 1024

/** @throws ApiError validation_failed (param `limit`) from `add` when the page is too large to be written */
export function renderFeedbackPage(fields: RowQuery['fields']) {
  const texts: string[] = []
  let characters = 0
  return {
    add(rows: readonly FeedbackRow[]): void {
      for (const row of rows) {
        const text = renderFeedbackRow(row, fields)
        characters += text.length
        if (characters > ANSWER_CHARACTERS_MAX) throw tooLarge()
        texts.push(text)
      }
    },
    texts: (): readonly string[] => texts,
  }
}

function tooLarge(): ApiError {
  const message = `The rows have more than ${ANSWER_CHARACTERS_MAX} characters: ask for fewer.`
  return new ApiError('validation_failed', { param: 'limit', message })
}
