/**
 * Settings of projects that the tracing clients read. The retention can be set; the others are constants of Weft.
 *
 * Spec: §4 (none of these routes is shown). Choice: the routes of the public tracing clients.
 * Callers with `traces:write` may delete calls by id; setting the retention, which deletes many, needs `admin`.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import { resolveRetention } from '../../domain/projects/retention.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import { ProjectOnly } from '../../schemas/primitives.ts'
import {
  IngestSamplingResponse,
  SensitiveDataResponse,
  TtlSettingsResponse,
  TtlSettingsUpdateRequest,
} from '../../schemas/projects/project.ts'
import type { Stores } from '../../store/api/stores.ts'

interface ProjectSettingsOptions extends Pick<Stores, 'retention'> {
  /** Retention in days of projects without a setting; null: forever. */
  readonly defaultDays: number | null
}

const tags = ['projects']

export async function projectSettingsRoutes(
  app: App,
  options: ProjectSettingsOptions,
): Promise<void> {
  addRetention(app, options)
  addProjectRead(
    app,
    '/project/ingest_sampling_settings/read',
    {
      tags,
      operationId: 'readIngestSampling',
      summary: 'Return the sampling rate of a project, which is always 1 (addition to the spec).',
      body: ProjectOnly,
      response: IngestSamplingResponse,
    },
    async () => ({ sample_rate: 1 as const, dry_run: false as const }),
  )
  app.get(
    '/project/sensitive_data_settings',
    {
      schema: {
        tags,
        operationId: 'readSensitiveData',
        summary:
          'Return whether a project redacts sensitive data, which is always off (addition to the spec).',
        querystring: ProjectOnly,
        response: { 200: SensitiveDataResponse },
      },
    },
    async (request) => {
      requireAccess(request.principal, 'traces:read', request.query.project_id)
      return { policy: 'off' as const }
    },
  )
}

function addRetention(app: App, { retention, defaultDays }: ProjectSettingsOptions): void {
  addProjectRead(
    app,
    '/project/ttl_settings/read',
    {
      tags,
      operationId: 'readRetention',
      summary: 'Return for how many days a project keeps its calls (addition to the spec).',
      description:
        'The default of the server (`WEFT_RETENTION_DAYS`) until the project has its own setting.',
      body: ProjectOnly,
      response: TtlSettingsResponse,
    },
    async ({ project_id }) => {
      const own = await retention.findRetention(project_id)
      return { retention_days: resolveRetention(own, defaultDays) }
    },
  )
  app.post(
    '/project/ttl_settings/update',
    {
      schema: {
        tags,
        operationId: 'updateRetention',
        summary: 'Set for how many days a project keeps its calls (addition to the spec).',
        description: 'Needs the scope `admin`. Older calls are removed for good.',
        body: TtlSettingsUpdateRequest,
        response: { 200: TtlSettingsResponse },
      },
    },
    async (request) => {
      const { project_id, retention_days = null } = request.body
      const caller = requireAccess(request.principal, 'admin', project_id)
      const by = originOf(request, caller)
      await retention.setRetention({ project_id, retention_days }, by)
      return { retention_days }
    },
  )
}
