/** The writes of preview models and of checkpoints that no job made, in SQLite and PostgreSQL alike. */
import { renderJson } from '../../../domain/json/json-text.ts'
import type { Checkpoint } from '../../../domain/models/checkpoint.ts'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import type { DeletedSteps } from '../../api/models/checkpoints.ts'
import { all, first, run, type Steps } from '../db/steps.ts'
import type { JobMoves } from '../training/job-moves.ts'
import * as CHECKPOINTS from './checkpoints.sql.ts'
import * as SQL from './preview-models.sql.ts'

interface ModelDeletion {
  readonly id: string
  readonly now_us: number
}

interface StepDeletion {
  readonly model_id: string
  readonly steps: readonly number[]
  readonly deleted_at_us: number
}

interface HiddenRow {
  readonly artifact_path: string | null
}

/** The deleted steps, and the files of their checkpoints. */
interface HiddenSteps extends DeletedSteps {
  readonly paths: readonly (string | null)[]
}

export function createModelWrites(moves: JobMoves) {
  return {
    *insert_model(model: PreviewModel): Steps<PreviewModel> {
      yield* run(SQL.INSERT_PREVIEW_MODEL, model)
      return (yield* first<PreviewModel>(SQL.FIND_PREVIEW_MODEL_BY_NAME, model)) as PreviewModel
    },
    /** Deletes a model and hides its checkpoints; returns their files, or null when there is no such model. */
    *delete_model({ id, now_us }: ModelDeletion): Steps<readonly (string | null)[] | null> {
      const deleted_at_us = now_us
      if ((yield* run(SQL.DELETE_PREVIEW_MODEL, { id, deleted_at_us })) === 0) return null
      yield* moves.cancelAll(id, 'The model was deleted.', now_us)
      const steps = { model_id: id, deleted_at_us }
      const hidden = yield* all<HiddenRow>(CHECKPOINTS.DELETE_ALL_STEPS, steps)
      return hidden.map(({ artifact_path }) => artifact_path)
    },
    *insert_checkpoint({ metrics, ...row }: Checkpoint): Steps<void> {
      yield* run(CHECKPOINTS.INSERT_CHECKPOINT, { ...row, metrics_json: renderJson(metrics) })
      yield* run(SQL.RAISE_LAST_STEP, row)
    },
    *delete_steps({ model_id, steps, deleted_at_us }: StepDeletion): Steps<HiddenSteps> {
      const paths: (string | null)[] = []
      const not_found_steps: number[] = []
      for (const step of new Set(steps)) {
        const place = { model_id, step, deleted_at_us }
        const hidden = yield* first<HiddenRow>(CHECKPOINTS.DELETE_STEP, place)
        if (hidden === undefined) not_found_steps.push(step)
        else paths.push(hidden.artifact_path)
      }
      return { deleted_count: paths.length, not_found_steps, paths }
    },
  }
}
