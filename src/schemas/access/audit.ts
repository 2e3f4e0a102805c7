/** The audit list on the wire: additions to the spec. */
import { z } from 'zod'
import { FreeObject, Time, Timestamp } from '../primitives.ts'
import { orderField, PageQuery, pageOf } from '../query/page-query.ts'

/** What is recorded: changes with the write itself, deletions and exports before they begin. */
export const AUDIT_ACTIONS = [
  'key.create',
  'key.update',
  'key.rotate',
  'key.revoke',
  'person.create',
  'person.update',
  'person.create_link',
  'person.set_password',
  'person.sign_in',
  'person.sign_out',
  'budget.create',
  'budget.update',
  'budget.delete',
  'alert.create',
  'alert.update',
  'alert.delete',
  'evaluator.create',
  'evaluator.update',
  'evaluator.delete',
  'queue.create',
  'queue.update',
  'retention.update',
  'redaction.update',
  'training_job.create',
  'alias.update',
  'alias.delete',
  'calls.tag',
  'calls.delete',
  'objects.delete',
  'feedback.delete',
  'prices.delete',
  'queue.delete',
  'model.delete',
  'checkpoints.delete',
  'response.delete',
  'calls.export',
  'trace.export',
  'checkpoint.export',
  'training_data.export',
  'audit.export',
] as const

const filters = {
  from: Timestamp.optional().describe('Entries at or after this time. Default: all.'),
  until: Timestamp.optional().describe('Entries before this time. Default: all.'),
  actor: z
    .string('must be given once')
    .max(128)
    .optional()
    .describe('Entries of this svc_user_id. Default: of all.'),
  action: z
    .enum(AUDIT_ACTIONS, `must be one of ${AUDIT_ACTIONS.join(', ')}`)
    .optional()
    .describe('Entries of this action. Default: of all.'),
}

export const AuditQuery = PageQuery.extend({
  ...filters,
  order: orderField('time', 'desc'),
})
export const AuditExportQuery = z.strictObject(filters)
export type AuditExportQuery = z.infer<typeof AuditExportQuery>

const state = FreeObject.nullable()

export const AuditEntryResponse = z
  .object({
    id: z.string().describe('Id of the entry.'),
    created_at: Time.describe('When it was recorded, UTC.'),
    svc_user_id: z
      .string()
      .describe('Who: user of the key, id of the person, `command-line` or `server`.'),
    key_id: z.string().describe('By which key; `person-<id>` for a session.'),
    address: z
      .string()
      .nullable()
      .describe('Address at the other end of the connection; null: no request made it.'),
    forwarded_for: z
      .string()
      .nullable()
      .describe('`X-Forwarded-For`, as a proxy or the client itself has sent it; null: not sent.'),
    action: z.enum(AUDIT_ACTIONS).describe('What was done.'),
    subject_id: z.string().describe('Id of what it was done to; the project, where it has none.'),
    projects: z.array(z.string()).describe('Projects that it is about.'),
    before: state.describe('What it was before; of an update what has changed. null: nothing.'),
    after: state.describe('What it is after; of an update what has changed. null: nothing.'),
  })
  .meta({ id: 'AuditEntryResponse', description: 'One entry of the audit list.' })
export type AuditEntryResponse = z.infer<typeof AuditEntryResponse>

export const AuditListResponse = pageOf(AuditEntryResponse)
