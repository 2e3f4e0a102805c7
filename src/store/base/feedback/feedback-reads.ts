/**
 * Queries and statistics over feedback, in SQLite and PostgreSQL alike. They walk narrow rows in time order, and read
 * payloads only where the condition, the sums or the page needs them. What is deleted meanwhile is left out.
 */
import { renderFeedbackPage } from '../../../domain/feedback/feedback-page.ts'
import {
  type FeedbackWindow,
  isInWindow,
  SAMPLE_CHARACTERS_MAX,
  type WindowEntry,
} from '../../../domain/feedback/feedback-sample.ts'
import { createFeedbackSums, type FeedbackSums } from '../../../domain/feedback/feedback-sums.ts'
import { type FeedbackRow, feedbackField } from '../../../domain/feedback/feedback-view.ts'
import { type FeedbackWalk, planFeedbackWalk } from '../../../domain/feedback/feedback-walk.ts'
import {
  createScoreGroups,
  isChosenByIndex,
  type ScoredRow,
} from '../../../domain/feedback/score-groups.ts'
import { createLeafPaths } from '../../../domain/json/json-paths.ts'
import { createRowSelection, type RowQuery } from '../../../domain/query/row-query.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
} from '../../../schemas/feedback/feedback-stats.ts'
import type { FeedbackMeasure, FeedbackRows, PayloadPaths } from '../../api/feedback/feedback.ts'
import { partsBySize } from '../db/sizes.ts'
import { all, type Steps } from '../db/steps.ts'
import type { FeedbackSource, FeedbackStatements } from './feedback.sql.ts'

/** Limit: feedback rows of one statement, some 2 ms. */
const PART_ROWS = 1000

export interface FeedbackQuery {
  readonly project_id: string
  readonly query: RowQuery
}

/** Feedback whose payload may be read. */
export interface SizedKey {
  readonly feedback_key: number
  /** Of the payload. */
  readonly bytes: number
}

type FeedbackEntry = FeedbackRow & SizedKey & { payload_json: string | null }

interface WalkedEntry extends WindowEntry, SizedKey {
  readonly created_at_us: number
  readonly id: string
  readonly score_bytes: number
}

type WalkedTime = Pick<FeedbackWindow, 'project_id' | 'start_us' | 'end_us'>

export interface FeedbackReads extends FeedbackStatements {
  /** Decides which set of feedback a query reads. */
  sourceOf(project_id: string, plan: FeedbackWalk): Steps<FeedbackSource>
  /** Limit: rows of a statement for sources that have no index in time order; default PART_ROWS. */
  readonly sortedRowsMax?: number
}

function createWalks(statements: FeedbackReads, rowsMax: number) {
  /** Returns the rows with their payloads, in order. */
  function* readPayloads<Row extends SizedKey>(
    rows: readonly Row[],
  ): Steps<(Row & { payload_json: string })[]> {
    type Found = { feedback_key: number; payload_json: string }
    const keys = rows.map(({ feedback_key }) => feedback_key)
    const found = yield* all<Found>(statements.FIND_PAYLOADS, { keys })
    const payloads = new Map(found.map((row) => [row.feedback_key, row.payload_json]))
    return rows.flatMap((row) => {
      const payload_json = payloads.get(row.feedback_key)
      return payload_json === undefined ? [] : [{ ...row, payload_json }]
    })
  }

  /** Passes the feedback that can match to `take`, in time order, until it returns false. */
  function* walk(
    project_id: string,
    plan: FeedbackWalk,
    take: (row: FeedbackEntry) => boolean,
  ): Steps<void> {
    const { texts, createdUs, direction, readsPayload } = plan
    const source = yield* statements.sourceOf(project_id, plan)
    const sql = statements.selectFeedback(source, direction)
    const isSorted = source === 'id' || source === 'weave_ref' || source === 'feedback_type'
    const rows_max = (isSorted ? statements.sortedRowsMax : undefined) ?? rowsMax
    let bounds = { from_us: createdUs.from, to_us: createdUs.to }
    // No feedback has this time, so nothing is left out.
    let after = { after_us: -1, after_id: '' }
    while (true) {
      const rows = yield* all<FeedbackEntry>(sql, {
        project_id,
        texts,
        rows_max,
        ...bounds,
        ...after,
      })
      for (const part of readsPayload ? partsBySize(rows) : [rows]) {
        for (const row of readsPayload ? yield* readPayloads(part) : part) {
          if (!take(row)) return
        }
      }
      const last = rows.at(-1)
      if (rows.length < rows_max || last === undefined) return
      after = { after_us: last.created_at_us, after_id: last.id }
      bounds = { ...bounds, [direction === 'asc' ? 'from_us' : 'to_us']: last.created_at_us }
    }
  }

  /** Passes the feedback of a window to `take`, in parts and in time order. */
  function* walkWindow(
    { project_id, start_us, end_us }: WalkedTime,
    take: (entries: readonly WalkedEntry[]) => Steps<void>,
  ): Steps<void> {
    // No id is empty, so this cursor is before everything at the first time.
    let after = { after_us: start_us, after_id: '' }
    while (true) {
      const parameters = { project_id, ...after, end_us, rows_max: rowsMax }
      const part = yield* all<WalkedEntry>(statements.SELECT_WINDOW_PART, parameters)
      yield* take(part)
      const last = part.at(-1)
      if (part.length < rowsMax || last === undefined) return
      after = { after_us: last.created_at_us, after_id: last.id }
    }
  }

  return { readPayloads, walk, walkWindow }
}

/** @param rowsMax - rows of one statement */
export function createFeedbackReads(statements: FeedbackReads, rowsMax = PART_ROWS) {
  const { readPayloads, walk, walkWindow } = createWalks(statements, rowsMax)
  return {
    *query({ project_id, query }: FeedbackQuery): Steps<FeedbackRows> {
      const parsed = new WeakMap<FeedbackRow, unknown>()
      const plan = planFeedbackWalk(query)
      const selection = createRowSelection<FeedbackEntry>(
        plan.query,
        (row, path) => feedbackField(row, path, parsed),
        plan.isPresorted,
      )
      yield* walk(project_id, plan, (row) => {
        const isWanted = selection.add(row)
        // Releases the payload of the row: the selection may hold very many rows.
        parsed.delete(row)
        row.payload_json = null
        return isWanted
      })
      const rows = selection.rows()
      const withPayload = query.fields.some(({ path }) => path[0] === 'payload')
      const page = renderFeedbackPage(query.fields)
      for (const part of withPayload ? partsBySize(rows) : [rows]) {
        page.add(withPayload ? yield* readPayloads(part) : part)
      }
      return { count: selection.count(), rows: page.texts() }
    },

    /** Sums up numbers in payloads by bucket and over the whole window. */
    *measure({ window, metrics, startsUs }: FeedbackMeasure): Steps<FeedbackSums> {
      const sums = createFeedbackSums(metrics, startsUs)
      const isCounted = metrics.metrics.length === 0
      yield* walkWindow(window, function* (entries) {
        const chosen = entries.filter((entry) => isInWindow(entry, window))
        if (isCounted) for (const { created_at_us } of chosen) sums.add(created_at_us, null)
        for (const part of isCounted ? [] : partsBySize(chosen)) {
          for (const row of yield* readPayloads(part)) sums.add(row.created_at_us, row.payload_json)
        }
      })
      return sums.end()
    },

    /** Aggregates scores by time and group. */
    *aggregate(request: FeedbackAggregateRequest): Steps<FeedbackAggregateResponse['buckets']> {
      const { project_id, after_ms, before_ms } = request
      const groups = createScoreGroups(request)
      const window = { project_id, start_us: after_ms * 1000, end_us: before_ms * 1000 }
      yield* walkWindow(window, function* (entries) {
        const chosen = entries
          .filter((entry) => isChosenByIndex(entry, request))
          .map(({ feedback_key, score_bytes: bytes }) => ({ feedback_key, bytes }))
        for (const part of partsBySize(chosen)) {
          const keys = part.map(({ feedback_key }) => feedback_key)
          for (const row of yield* all<ScoredRow>(statements.FIND_SCORES, { keys })) groups.add(row)
        }
      })
      return groups.buckets()
    },

    /** Returns the leaf paths of chosen payloads, the newest first, so that limits leave old ones out. */
    *findPaths(chosen: readonly SizedKey[]): Steps<PayloadPaths> {
      const leaves = createLeafPaths()
      let characters = 0
      for (const part of partsBySize(chosen)) {
        for (const { payload_json } of yield* readPayloads(part)) {
          characters += payload_json.length
          if (characters > SAMPLE_CHARACTERS_MAX) {
            return { paths: leaves.list(), is_complete: false }
          }
          leaves.add(JSON.parse(payload_json))
        }
      }
      return { paths: leaves.list(), is_complete: leaves.isComplete() }
    },
  }
}
