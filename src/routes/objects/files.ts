/**
 * Files by content: uploaded as a form, downloaded as bytes.
 *
 * Spec: §4 (bodies are JSON unless stated; files are not shown). Choice: the routes of the public clients,
 * under both of their names.
 */
import { requireAccess, requireScope } from '../../domain/access/permissions.ts'
import { requireDigest } from '../../domain/objects/digests.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { bytesResponse } from '../../http/document/responses.ts'
import { addProjectRead } from '../../http/project-routes.ts'
import {
  FileContentRequest,
  FileCreateFields,
  FileCreateForm,
  FileCreateResponse,
  FilesStatsResponse,
} from '../../schemas/objects/file.ts'
import { ProjectOnly } from '../../schemas/primitives.ts'
import type { FileStore } from '../../store/api/objects/tables.ts'
import type { Stores } from '../../store/api/stores.ts'
import { readFileForm, useFileForms } from './file-form.ts'

interface FileRoutesOptions extends Pick<Stores, 'files'> {
  readonly fileBytesMax: number
}

const tags = ['files']

export async function fileRoutes(app: App, { files, fileBytesMax }: FileRoutesOptions) {
  await app.register(async (forms: App) => {
    await useFileForms(forms, fileBytesMax)
    addFileCreate(forms, { url: '/file/create', operationId: 'createFile' }, files)
    addFileCreate(forms, { url: '/files/create', operationId: 'createFileByOtherName' }, files)
  })
  addFileContent(app, { url: '/file/content', operationId: 'readFile' }, files)
  addFileContent(app, { url: '/files/content', operationId: 'readFileByOtherName' }, files)
  addFilesStats(app, files)
}

/** One of the names of a route. */
interface Name {
  readonly url: string
  readonly operationId: string
}

function addFileCreate(app: App, { url, operationId }: Name, files: FileStore): void {
  app.post(
    url,
    {
      schema: {
        tags,
        operationId,
        summary: 'Store a file; storing the same content again yields the same file.',
        consumes: ['multipart/form-data'],
        shown: { body: FileCreateForm },
        response: { 200: FileCreateResponse },
      },
    },
    async (request) => {
      requireScope(request.principal, 'traces:write')
      const { fields, file } = await readFileForm(request, files)
      try {
        const { project_id, expected_digest } = app.naming.parse(FileCreateFields, fields)
        requireAccess(request.principal, 'traces:write', project_id)
        requireDigest(expected_digest, file.digest, 'expected_digest')
        await file.keep(project_id)
        return { digest: file.digest }
      } finally {
        await file.discard()
      }
    },
  )
}

function addFileContent(app: App, { url, operationId }: Name, files: FileStore): void {
  app.post(
    url,
    {
      schema: {
        tags,
        operationId,
        summary: 'Read the bytes of a file.',
        body: FileContentRequest,
        shown: { response: { 200: bytesResponse('The bytes of the file.') } },
      },
    },
    async (request, reply) => {
      const { project_id, digest } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const file = await files.findFile(project_id, digest)
      if (file === null) throw new ApiError('file_not_found', { param: 'digest' })
      return reply
        .type('application/octet-stream')
        .header('content-length', file.size_bytes)
        .send(file.content)
    },
  )
}

function addFilesStats(app: App, files: FileStore): void {
  addProjectRead(
    app,
    '/files/query_stats',
    {
      tags,
      operationId: 'sumFiles',
      summary: 'Sum the bytes of the files of a project.',
      body: ProjectOnly,
      response: FilesStatsResponse,
    },
    async ({ project_id }) => {
      return { total_size_bytes: await files.sumFileBytes(project_id) }
    },
  )
}
