/** What people save for all readers of a project, as objects of a class of the page's own. */
import type { ObjectSchema } from '../../schemas/objects/object.ts'
import { requestJson } from './client.ts'
import { membersOf } from './wire.ts'

/** Limit: objects of a class that are read. */
const OBJECTS_MAX = 200

/**
 * Returns the members of the newest version of each object of a class.
 *
 * @param names - only the objects of these names
 * @throws ApiFailure
 */
export async function readSavedObjects(
  project_id: string,
  className: string,
  signal?: AbortSignal,
  names: readonly string[] | null = null,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const filter = { latest_only: true, base_object_classes: [className], object_ids: names }
  const body = { project_id, filter, limit: OBJECTS_MAX }
  const { objs } = await requestJson<{ objs: ObjectSchema[] }>('/objs/query', body, { signal })
  return objs.map(({ val }) => membersOf(val))
}

/** Saves an object as its newest version. @throws ApiFailure */
export async function saveObject(
  project_id: string,
  className: string,
  object_id: string,
  members: object,
): Promise<void> {
  const classes = { _type: className, _class_name: className, _bases: ['Object', 'BaseModel'] }
  await requestJson('/obj/create', {
    obj: { project_id, object_id, val: { ...classes, ...members } },
  })
}

/** @throws ApiFailure */
export async function deleteObject(project_id: string, object_id: string): Promise<void> {
  await requestJson('/obj/delete', { project_id, object_id })
}
