/** The client side of the training preview. Spec: §4.8, §4.9; the rest are additions. */
import { requireScope } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { type CheckpointRoutesOptions, checkpointRoutes } from '../models/checkpoints.ts'
import { type PreviewModelRoutesOptions, previewModelRoutes } from '../models/preview-models.ts'
import { type TrainingJobRoutesOptions, trainingJobRoutes } from './training-jobs.ts'

interface PreviewRoutesOptions
  extends PreviewModelRoutesOptions,
    TrainingJobRoutesOptions,
    CheckpointRoutesOptions {}

export async function previewRoutes(app: App, options: PreviewRoutesOptions): Promise<void> {
  // Checked before bodies are read: a key without the scope must not upload 256 MiB in vain.
  app.addHook('onRequest', async (request) => {
    requireScope(request.principal, 'training')
  })
  await app.register(previewModelRoutes, options)
  await app.register(trainingJobRoutes, options)
  await app.register(checkpointRoutes, options)
}
