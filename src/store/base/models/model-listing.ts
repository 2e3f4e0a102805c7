/** Decides which models a list shows, for this store and others. */
import { canUseProject } from '../../../domain/access/permissions.ts'
import { modelProjectId, type PreviewModel } from '../../../domain/models/preview-model.ts'
import type { ModelListing } from '../../api/models/preview-models.ts'

export function isShown(
  model: PreviewModel,
  { project_id, projects, base_models }: ModelListing,
): boolean {
  const own = modelProjectId(model)
  if (project_id !== null && own !== project_id) return false
  if (base_models !== null && !base_models.includes(model.base_model)) return false
  return canUseProject({ projects }, own)
}
