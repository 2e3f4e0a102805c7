/** Preparations of bodies for routes that store objects and tables: permissions, texts, digests. No I/O. */
import type { z } from 'zod'
import { requireAccess } from '../../domain/access/permissions.ts'
import { splitMembers } from '../../domain/json/json-members.ts'
import { type NewObject, resolveObject } from '../../domain/objects/object-content.ts'
import type { TableChange } from '../../domain/objects/table-update.ts'
import { ObjectCreateRequest } from '../../schemas/objects/object.ts'
import { TableCreateRequest, TableUpdateRequest } from '../../schemas/objects/table.ts'
import type { NewRow } from '../../store/api/objects/tables.ts'
import type { Preparation } from '../bodies/preparation.ts'
import { digestChanges, digestRows } from './table-rows.ts'

export const prepareObject: Preparation<z.infer<typeof ObjectCreateRequest>, NewObject> = {
  schema: ObjectCreateRequest,
  prepare({ obj }, { principal, text, nowUs }) {
    const param = 'obj.project_id'
    const { svc_user_id } = requireAccess(principal, 'traces:write', obj.project_id, param)
    return resolveObject(obj, text, { svc_user_id, created_at_us: nowUs })
  },
}

interface NewTable {
  readonly project_id: string
  readonly expected_digest: string | null
  readonly rows: readonly NewRow[]
}

export const prepareTable: Preparation<z.infer<typeof TableCreateRequest>, NewTable> = {
  schema: TableCreateRequest,
  async prepare({ table }, { principal, text }) {
    const { project_id, expected_digest = null } = table
    requireAccess(principal, 'traces:write', project_id, 'table.project_id')
    const sent = splitMembers(splitMembers(text).get('table') ?? '{}')
    return { project_id, expected_digest, rows: await digestRows(sent.get('rows') ?? '[]') }
  },
}

interface TableUpdate {
  readonly project_id: string
  readonly base_digest: string
  readonly rows: readonly NewRow[]
  readonly changes: readonly TableChange[]
}

export const prepareTableUpdate: Preparation<z.infer<typeof TableUpdateRequest>, TableUpdate> = {
  schema: TableUpdateRequest,
  async prepare({ project_id, base_digest, updates }, { principal, text }) {
    requireAccess(principal, 'traces:write', project_id)
    return { project_id, base_digest, ...(await digestChanges(updates, text)) }
  },
}
