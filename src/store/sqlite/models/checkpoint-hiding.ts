/** Hides checkpoints, inside the caller's transaction. */

import * as SQL from '../../base/models/checkpoints.sql.ts'
import type { Connection } from '../db/connection.ts'

/** The number of hidden checkpoints, and their files. */
export interface Hidden {
  readonly count: number
  readonly paths: readonly string[]
}

interface HiddenRow {
  readonly artifact_path: string | null
}

export function createCheckpointHiding(db: Connection) {
  const deleteAll = db.prepare(SQL.DELETE_ALL_STEPS)
  const deleteStep = db.prepare(SQL.DELETE_STEP)
  return {
    /** Hides all checkpoints of a model. */
    hideAll: (model_id: string, deleted_at_us: number): Hidden =>
      toHidden(deleteAll.all({ model_id, deleted_at_us }) as HiddenRow[]),
    /** Hides the checkpoint of a step; returns null when there is none. */
    hideStep(model_id: string, step: number, deleted_at_us: number): Hidden | null {
      const rows = deleteStep.all({ model_id, step, deleted_at_us }) as HiddenRow[]
      return rows.length === 0 ? null : toHidden(rows)
    },
  }
}

function toHidden(rows: readonly HiddenRow[]): Hidden {
  const paths = rows.flatMap(({ artifact_path }) => artifact_path ?? [])
  return { count: rows.length, paths }
}
