/**
 * Settings of projects that the tracing clients read. Retention and redaction can be set; the others are constants of Weft.
 *
 * Spec: §4 (none of these routes is shown). Choice: the routes of the public tracing clients.
 * Callers with `traces:write` may delete calls by id; setting the retention, which deletes many, or the redaction needs `admin`.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import { findPatternFault, readRedaction } from '../../domain/projects/redaction.ts'
import { resolveRetention } from '../../domain/projects/retention.ts'
import { refuseField } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import { ProjectOnly } from '../../schemas/primitives.ts'
import {
  IngestSamplingResponse,
  RedactionSettings,
  RedactionUpdateRequest,
  SensitiveDataResponse,
  TtlSettingsResponse,
  TtlSettingsUpdateRequest,
} from '../../schemas/projects/project.ts'
import type { Stores } from '../../store/api/stores.ts'

interface ProjectSettingsOptions extends Pick<Stores, 'retention' | 'redactions'> {
  /** Retention in days of projects without a setting; null: forever. */
  readonly defaultDays: number | null
}

const tags = ['projects']

export async function projectSettingsRoutes(
  app: App,
  options: ProjectSettingsOptions,
): Promise<void> {
  addRetention(app, options)
  addRedaction(app, options)
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
        summary: 'Return whether a project redacts sensitive data (addition to the spec).',
        querystring: ProjectOnly,
        response: { 200: SensitiveDataResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'traces:read', project_id)
      const { kinds, patterns } = await findRedaction(options.redactions, project_id)
      const isOn = kinds.length + patterns.length > 0
      return { policy: isOn ? ('redact' as const) : ('off' as const) }
    },
  )
}

async function findRedaction(redactions: Stores['redactions'], project_id: string) {
  const listed = await redactions.listRedactions()
  const found = listed.find((one) => one.project_id === project_id)
  const { kinds, patterns } = readRedaction(found?.rules_json ?? '{}')
  return { kinds: [...kinds], patterns: [...patterns] }
}

function addRedaction(app: App, { redactions }: ProjectSettingsOptions): void {
  addProjectRead(
    app,
    '/project/redaction/read',
    {
      tags,
      operationId: 'readRedaction',
      summary: 'Return what is redacted in the data of a project (addition to the spec).',
      body: ProjectOnly,
      response: RedactionSettings,
    },
    ({ project_id }) => findRedaction(redactions, project_id),
  )
  app.post(
    '/project/redaction/update',
    {
      schema: {
        tags,
        operationId: 'updateRedaction',
        summary: 'Set what is redacted in the data of a project (addition to the spec).',
        description:
          'Needs the scope `admin`. Calls, spans, logs and recorded completions that arrive later are redacted before they are stored; empty lists end it.',
        body: RedactionUpdateRequest,
        response: { 200: RedactionSettings },
      },
    },
    async (request) => {
      const { project_id, kinds = [], patterns = [] } = request.body
      const caller = requireAccess(request.principal, 'admin', project_id)
      for (const [index, { pattern }] of patterns.entries()) {
        const fault = findPatternFault(pattern)
        if (fault !== null) refuseField(`patterns[${index}].pattern`, `must be valid: ${fault}`)
      }
      const setting = { kinds: [...new Set(kinds)], patterns }
      const isOff = kinds.length + patterns.length === 0
      const rules_json = isOff ? null : JSON.stringify(setting)
      await redactions.setRedaction({ project_id, rules_json }, originOf(request, caller))
      return setting
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
