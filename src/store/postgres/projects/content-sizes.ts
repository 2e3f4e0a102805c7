/** Sizes of the contents of a project. */
import type { ContentSizes } from '../../api/projects/projects.ts'
import { SUM_TABLE_BYTES } from '../../base/objects/tables.sql.ts'
import type { Postgres } from '../db/client.ts'
import { SUM_OBJECT_BYTES } from '../objects/tables.sql.ts'

export function sumContents(db: Postgres, project_id: string): Promise<ContentSizes> {
  return db.snapshot(async (tx) => {
    const objects = await tx.first<{ bytes: number }>(SUM_OBJECT_BYTES, { project_id })
    const tables = await tx.first<{ bytes: number }>(SUM_TABLE_BYTES, { project_id })
    return { objects: objects?.bytes ?? 0, tables: tables?.bytes ?? 0 }
  })
}
