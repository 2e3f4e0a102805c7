/** The writes of preview models and of checkpoints that no job made. */
import { renderJson } from '../../../domain/json/json-text.ts'
import type { Checkpoint } from '../../../domain/models/checkpoint.ts'
import type { PreviewModel } from '../../../domain/models/preview-model.ts'
import { cancelJob } from '../../../domain/training/training-moves.ts'
import type { DeletedSteps } from '../../api/models/checkpoints.ts'
import * as BASE_CHECKPOINTS from '../../base/models/checkpoints.sql.ts'
import * as SQL from '../../base/models/preview-models.sql.ts'
import type { Connection } from '../db/connection.ts'
import type { JobMoves } from '../training/job-moves.ts'
import { createCheckpointHiding, type Hidden } from './checkpoint-hiding.ts'
import * as CHECKPOINTS from './checkpoints.sql.ts'

interface ModelDeletion {
  readonly id: string
  readonly now_us: number
}

interface StepDeletion {
  readonly model_id: string
  readonly steps: readonly number[]
  readonly deleted_at_us: number
}

/** The deleted steps, and the files of their checkpoints. */
interface HiddenSteps extends DeletedSteps {
  readonly paths: readonly string[]
}

export function createModelWrites(db: Connection, moves: JobMoves) {
  const insertModel = db.prepare(SQL.INSERT_PREVIEW_MODEL)
  const findByName = db.prepare(SQL.FIND_PREVIEW_MODEL_BY_NAME)
  const deleteModel = db.prepare(SQL.DELETE_PREVIEW_MODEL)
  const insertCheckpoint = db.prepare(BASE_CHECKPOINTS.INSERT_CHECKPOINT)
  const raiseLastStep = db.prepare(CHECKPOINTS.RAISE_LAST_STEP)
  const hiding = createCheckpointHiding(db)

  return {
    insert_model(model: PreviewModel): PreviewModel {
      insertModel.run(model)
      return findByName.get(model) as PreviewModel
    },
    /** Deletes a model and hides its checkpoints; returns null when there is no such model. */
    delete_model({ id, now_us }: ModelDeletion): Hidden | null {
      if (deleteModel.run({ id, deleted_at_us: now_us }).changes === 0) return null
      for (const job of moves.listUnfinished(id)) {
        moves.save(job, cancelJob(job, 'The model was deleted.', now_us), now_us)
      }
      return hiding.hideAll(id, now_us)
    },
    insert_checkpoint({ metrics, ...row }: Checkpoint): void {
      insertCheckpoint.run({ ...row, metrics_json: renderJson(metrics) })
      raiseLastStep.run(row)
    },
    delete_steps({ model_id, steps, deleted_at_us }: StepDeletion): HiddenSteps {
      const paths: string[] = []
      const not_found_steps: number[] = []
      let deleted_count = 0
      for (const step of new Set(steps)) {
        const hidden = hiding.hideStep(model_id, step, deleted_at_us)
        if (hidden === null) not_found_steps.push(step)
        else {
          deleted_count += hidden.count
          paths.push(...hidden.paths)
        }
      }
      return { deleted_count, not_found_steps, paths }
    },
  }
}
