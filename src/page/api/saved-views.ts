/** Views that people save under a name: objects of the project, which all of its readers see. */
import type { ObjectSchema } from '../../schemas/objects/object.ts'
import { requestJson } from './client.ts'
import { membersOf } from './wire.ts'

/** Class of the objects, and what their names begin with: other objects may have the same name. */
const CLASS = 'SavedView'
const PREFIX = 'saved-view-'
/** Limit: views that are listed. */
const VIEWS_MAX = 200
/** Limit: characters of the name of an object. */
const ID_MAX = 128
/** A prime; products of 33 and less than it are exact. */
const HASHES = 2 ** 47 - 115
/** Limit: characters of a name. */
export const VIEW_NAME_MAX = 100

interface SavedView {
  readonly name: string
  /** Query of its address, without `?`. */
  readonly search: string
}

/** Returns the saved views of the list of calls by their names. @throws ApiFailure */
export async function readSavedViews(
  project_id: string,
  signal: AbortSignal,
): Promise<readonly SavedView[]> {
  const filter = { latest_only: true, base_object_classes: [CLASS] }
  const body = { project_id, filter, limit: VIEWS_MAX }
  const { objs } = await requestJson<{ objs: ObjectSchema[] }>('/objs/query', body, { signal })
  const views = objs.flatMap(({ val }) => {
    const { name, view, search } = membersOf(val)
    const isKnown = view === 'calls' && typeof name === 'string' && typeof search === 'string'
    return isKnown ? [{ name, search }] : []
  })
  return views.sort((left, right) => left.name.localeCompare(right.name))
}

/** Saves a view; one of the same name is replaced. @throws ApiFailure */
export async function saveView(project_id: string, { name, search }: SavedView): Promise<void> {
  const classes = { _type: CLASS, _class_name: CLASS, _bases: ['Object', 'BaseModel'] }
  const val = { ...classes, name, view: 'calls', search }
  await requestJson('/obj/create', { obj: { project_id, object_id: objectIdOf(name), val } })
}

/** @throws ApiFailure */
export async function deleteView(project_id: string, name: string): Promise<void> {
  await requestJson('/obj/delete', { project_id, object_id: objectIdOf(name) })
}

/** Signs that names of objects must not have are written as their codes; each name has an object of its own. */
function objectIdOf(name: string): string {
  const code = (sign: string) => (sign === ' ' ? '_' : `.${sign.codePointAt(0)?.toString(36)}.`)
  const id = `${PREFIX}${name.replace(/[^\p{L}\p{N}-]/gu, code)}`
  if (id.length <= ID_MAX) return id
  const sum = [...name].reduce((hash, sign) => (hash * 33 + (sign.codePointAt(0) ?? 0)) % HASHES, 0)
  return `${id.slice(0, ID_MAX - 12)}.${sum.toString(36)}`
}
