/**
 * Settings of projects that the tracing clients ask for: what Weft does, which cannot be set.
 *
 * Spec: §4 (none of these routes is shown). Choice: clients that ask get the truth in the vendor's words; a setting that would not be honoured is refused.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import {
  IngestSamplingResponse,
  ProjectOnlyRequest,
  SensitiveDataResponse,
  TtlSettingsResponse,
  TtlSettingsUpdateRequest,
} from '../../schemas/projects/project.ts'

const tags = ['projects']

export async function projectSettingsRoutes(app: App): Promise<void> {
  addRetention(app)
  app.post(
    '/project/ingest_sampling_settings/read',
    {
      schema: {
        tags,
        operationId: 'readIngestSampling',
        summary: 'How much of what is sent is kept: all (addition to the spec).',
        body: ProjectOnlyRequest,
        response: { 200: IngestSamplingResponse },
      },
    },
    async (request) => {
      requireAccess(request.principal, 'traces:read', request.body.project_id)
      return { sample_rate: 1 as const, dry_run: false as const }
    },
  )
  app.get(
    '/project/sensitive_data_settings',
    {
      schema: {
        tags,
        operationId: 'readSensitiveData',
        summary: 'Whether sensitive data is looked for: no (addition to the spec).',
        querystring: ProjectOnlyRequest,
        response: { 200: SensitiveDataResponse },
      },
    },
    async (request) => {
      requireAccess(request.principal, 'traces:read', request.query.project_id)
      return { policy: 'off' as const }
    },
  )
}

function addRetention(app: App): void {
  app.post(
    '/project/ttl_settings/read',
    {
      schema: {
        tags,
        operationId: 'readRetention',
        summary: 'How long calls are kept: until they are deleted (addition to the spec).',
        body: ProjectOnlyRequest,
        response: { 200: TtlSettingsResponse },
      },
    },
    async (request) => {
      requireAccess(request.principal, 'traces:read', request.body.project_id)
      return { retention_days: null }
    },
  )
  app.post(
    '/project/ttl_settings/update',
    {
      schema: {
        tags,
        operationId: 'updateRetention',
        summary:
          'Keep calls until they are deleted; a number of days is refused (addition to the spec).',
        body: TtlSettingsUpdateRequest,
        response: { 200: TtlSettingsResponse },
      },
    },
    async (request) => {
      const { project_id, retention_days } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      if (retention_days === null || retention_days === undefined) return { retention_days: null }
      const message = 'retention_days cannot be set: Weft keeps calls until they are deleted.'
      throw new ApiError('validation_failed', { message, param: 'retention_days' })
    },
  )
}
