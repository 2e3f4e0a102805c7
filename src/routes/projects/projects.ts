/** Sizes and names of projects, and the caller of a key. Additions to the spec. */
import { canUseProject, hasScope, requireScope } from '../../domain/access/permissions.ts'
import { resolveCallsSelection } from '../../domain/calls/calls-query.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  CallerResponse,
  LISTED_PROJECTS_MAX,
  ProjectStatsRequest,
  ProjectStatsResponse,
  ProjectsInfoRequest,
  ProjectsInfoResponse,
} from '../../schemas/projects/project.ts'
import type { Stores } from '../../store/api/stores.ts'

type ProjectRoutesOptions = Pick<Stores, 'projects' | 'callsQuery' | 'files'>

const tags = ['projects']
const NOTHING = { objects: 0, tables: 0 }

export async function projectRoutes(app: App, options: ProjectRoutesOptions): Promise<void> {
  addStats(app, options)
  addInfo(app)
  addCaller(app, options)
}

function addStats(app: App, { projects, callsQuery, files }: ProjectRoutesOptions): void {
  addProjectRead(
    app,
    '/project/stats',
    {
      tags,
      operationId: 'sumProject',
      summary: 'Sum up how many bytes a project holds (addition to the spec).',
      body: ProjectStatsRequest,
      response: ProjectStatsResponse,
    },
    async ({ project_id, ...wanted }, caller) => {
      const isWanted = (what: boolean | null | undefined) => what !== false
      const withObjects = isWanted(wanted.include_object_storage_size)
      const withTables = isWanted(wanted.include_table_storage_size)
      const [calls, contents, fileBytes] = await Promise.all([
        isWanted(wanted.include_trace_storage_size)
          ? callsQuery.count(resolveCallsSelection({ project_id }), caller)
          : { storage_size_bytes: 0 },
        withObjects || withTables ? projects.sumContents(caller) : NOTHING,
        isWanted(wanted.include_file_storage_size) ? files.sumFileBytes(project_id) : 0,
      ])
      return {
        trace_storage_size_bytes: calls.storage_size_bytes,
        objects_storage_size_bytes: withObjects ? contents.objects : 0,
        tables_storage_size_bytes: withTables ? contents.tables : 0,
        files_storage_size_bytes: fileBytes,
      }
    },
  )
}

function addInfo(app: App): void {
  app.post(
    '/service/projects_info',
    {
      schema: {
        tags,
        operationId: 'nameProjects',
        summary:
          'Return the internal names of projects, which equal their names (addition to the spec).',
        body: ProjectsInfoRequest,
        response: { 200: ProjectsInfoResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'traces:read')
      return request.body.project_ids
        .filter((project_id) => canUseProject(caller, project_id))
        .map((project_id) => ({
          external_project_id: project_id,
          internal_project_id: project_id,
        }))
    },
  )
}

function addCaller(app: App, { projects }: ProjectRoutesOptions): void {
  app.get(
    '/me',
    {
      schema: {
        tags,
        operationId: 'describeCaller',
        summary: 'Return the user, scopes and projects of the key (addition to the spec).',
        response: { 200: CallerResponse },
      },
    },
    async (request, reply) => {
      const caller = request.principal
      if (caller === null) throw new ApiError('missing_api_key')
      // Without the right to read, only what the key names itself.
      const names = hasScope(caller, 'traces:read')
        ? await projects.listProjects(openReadCaller(request, reply, ''))
        : caller.projects.filter((pattern) => !pattern.includes('*'))
      const { svc_user_id, svc_username, scopes, projects: project_patterns } = caller
      return {
        key_id: caller.keyId,
        svc_user_id,
        svc_username,
        scopes: [...scopes],
        project_patterns: [...project_patterns],
        projects: names
          .filter((project_id) => canUseProject(caller, project_id))
          .slice(0, LISTED_PROJECTS_MAX),
      }
    },
  )
}
