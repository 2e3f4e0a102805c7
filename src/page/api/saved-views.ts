/** Views that people save under a name: objects of the project, which all of its readers see. */
import { deleteObject, readSavedObjects, saveObject } from './saved-objects.ts'

/** Class of the objects, and what their names begin with: other objects may have the same name. */
const CLASS = 'SavedView'
const PREFIX = 'saved-view-'
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
  project: string,
  signal: AbortSignal,
): Promise<readonly SavedView[]> {
  const saved = await readSavedObjects(project, CLASS, signal)
  const views = saved.flatMap(({ name, view, search }) => {
    const isKnown = view === 'calls' && typeof name === 'string' && typeof search === 'string'
    return isKnown ? [{ name, search }] : []
  })
  return views.sort((left, right) => left.name.localeCompare(right.name))
}

/** Saves a view; one of the same name is replaced. @throws ApiFailure */
export async function saveView(project: string, { name, search }: SavedView): Promise<void> {
  await saveObject(project, CLASS, objectIdOf(name), { name, view: 'calls', search })
}

/** @throws ApiFailure */
export async function deleteView(project: string, name: string): Promise<void> {
  await deleteObject(project, objectIdOf(name))
}

/** Signs that names of objects must not have are written as their codes; each name has an object of its own. */
function objectIdOf(name: string): string {
  const code = (sign: string) => (sign === ' ' ? '_' : `.${sign.codePointAt(0)?.toString(36)}.`)
  const id = `${PREFIX}${name.replace(/[^\p{L}\p{N}-]/gu, code)}`
  if (id.length <= ID_MAX) return id
  const sum = [...name].reduce((hash, sign) => (hash * 33 + (sign.codePointAt(0) ?? 0)) % HASHES, 0)
  return `${id.slice(0, ID_MAX - 12)}.${sum.toString(36)}`
}
