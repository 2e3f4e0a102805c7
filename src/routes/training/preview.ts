/** The client side of the training preview. Spec: §4.8, §4.9; the rest are additions. */
import { requireScope } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { openTrainingIntake } from '../../training/jobs/training-intake.ts'
import { type AliasArmsOptions, aliasArmsRoutes } from '../models/alias-arms.ts'
import { type AliasRoutesOptions, aliasRoutes } from '../models/aliases.ts'
import { type CheckpointRoutesOptions, checkpointRoutes } from '../models/checkpoints.ts'
import { type PreviewModelRoutesOptions, previewModelRoutes } from '../models/preview-models.ts'
import { createJobAcceptor } from './accept-job.ts'
import { type ComparisonRoutesOptions, comparisonRoutes } from './comparisons.ts'
import { type JobsFromCallsOptions, jobsFromCallsRoutes } from './jobs-from-calls.ts'
import { trainingExportRoutes } from './training-exports.ts'
import { type TrainingJobRoutesOptions, trainingJobRoutes } from './training-jobs.ts'
import { trajectoryRoutes } from './trajectories.ts'

interface PreviewRoutesOptions
  extends PreviewModelRoutesOptions,
    Omit<TrainingJobRoutesOptions, 'acceptJob'>,
    Omit<JobsFromCallsOptions, 'acceptJob'>,
    ComparisonRoutesOptions,
    AliasRoutesOptions,
    AliasArmsOptions,
    CheckpointRoutesOptions {
  /** Directory for large bodies while they are received, or ':memory:' for a temporary one. */
  readonly dataDir: string
}

export async function previewRoutes(app: App, options: PreviewRoutesOptions): Promise<void> {
  // Checked before bodies are read: a key without the scope must not upload 256 MiB in vain.
  app.addHook('onRequest', async (request) => {
    requireScope(request.principal, 'training')
  })
  const intake = openTrainingIntake(options)
  app.addHook('onClose', intake.close)
  const acceptJob = createJobAcceptor({ ...options, intake })
  await app.register(previewModelRoutes, options)
  await app.register(trainingJobRoutes, { ...options, acceptJob })
  await app.register(trajectoryRoutes, options)
  await app.register(jobsFromCallsRoutes, { ...options, acceptJob })
  await app.register(comparisonRoutes, options)
  await app.register(trainingExportRoutes, options)
  await app.register(aliasRoutes, options)
  await app.register(aliasArmsRoutes, options)
  await app.register(checkpointRoutes, options)
}
