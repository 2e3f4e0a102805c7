/** The contract of the store of published objects. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { NewObject } from '../../../domain/objects/object-content.ts'
import type { ObjectVersion } from '../../../domain/objects/object-view.ts'
import type { ObjectQueryRequest, ObjectVersionFilter } from '../../../schemas/objects/object.ts'

/** Which versions to list. Lists of the filter are at most 1,000 long. */
export interface ObjectListing {
  readonly project_id: string
  readonly filter: ObjectVersionFilter
  readonly sort_by: NonNullable<ObjectQueryRequest['sort_by']>
  readonly limit: number
  readonly offset: number
  /** Whether to read the contents. */
  readonly withContent: boolean
  /** Limit on bytes of all contents together. */
  readonly contentBytesMax: number
}

export interface ListedObject {
  readonly version: ObjectVersion
  /** Null when contents were not asked for. */
  readonly val_json: string | null
}

export type DeletedVersion = Pick<
  ObjectVersion,
  'digest' | 'version_index' | 'base_object_class' | 'leaf_object_class'
>

/** Names that are taken from an object, whatever version they lead to. */
export interface AliasRemoval {
  readonly project_id: string
  readonly object_id: string
  readonly names: readonly string[]
}

/** Tags or aliases of one version. */
export interface ObjectMarks extends AliasRemoval {
  /** Same errors as findObject. */
  readonly version: string
}

export interface ObjectStore {
  /**
   * Stores a content as the next version of an object. Resolves only after it is durable. A content that the
   * object has already is that version still, and is there again when it was deleted. Equal contents of a
   * project are stored once.
   *
   * @throws ApiError object_conflict, and stores nothing, when another version than expected is the latest;
   * server_overloaded, store_unavailable
   */
  createObject(object: NewObject): Promise<void>
  /**
   * The version that a name stands for: `latest`, `v` and a number, a digest, or an alias. May be a deleted one;
   * `latest` is deleted only when all are.
   *
   * @param withMarks - whether to read its tags and aliases, which are empty otherwise; default true
   * @returns null when the project has no such version
   */
  findObject(
    projectId: string,
    objectId: string,
    version: string,
    withMarks?: boolean,
  ): Promise<ObjectVersion | null>
  /** The text of a content of the project, as first sent; null when there is none of the digest. */
  findContent(projectId: string, digest: string): Promise<string | null>
  /**
   * Puts tags on a version; those that it has stay. Resolves only after it is durable, as do the three others.
   *
   * @throws ApiError object_not_found when the version is unknown or deleted; validation_failed (param `tags`)
   * for too many; server_overloaded, store_unavailable
   */
  addTags(marks: ObjectMarks): Promise<void>
  /** Takes tags from a version; those that it has not are passed over. Throws as addTags does. */
  removeTags(marks: ObjectMarks): Promise<void>
  /** Has aliases lead to a version, also those that lead to another one of the object. Throws as addTags does. */
  setAliases(marks: ObjectMarks): Promise<void>
  /** Takes aliases from an object; unknown ones are passed over. */
  removeAliases(removal: AliasRemoval): Promise<void>
  /** The tags of all versions of the caller's project that are not deleted, sorted, each once; at most 10,000. */
  listTags(caller: ReadCaller): Promise<string[]>
  /** The aliases, as listTags; without `latest`. */
  listAliases(caller: ReadCaller): Promise<string[]>
  /**
   * Versions that are not deleted, the oldest first unless sorted otherwise; equals in order of creation.
   *
   * @param caller - who waits
   * @throws ApiError validation_failed (param `limit`) for more than contentBytesMax bytes,
   * server_overloaded, read_timeout, client_closed_request, store_unavailable
   */
  listObjects(listing: ObjectListing, caller: ReadCaller): Promise<ListedObject[]>
  /**
   * Deletes versions, all or none of those that are named. Resolves only after it is durable.
   *
   * @param versions - names as in findObject; null for all
   * @returns the versions deleted, each once
   * @throws ApiError object_not_found, param `digests[0]` or `object_id`, when one is unknown or deleted;
   * server_overloaded, store_unavailable
   */
  deleteObjects(
    projectId: string,
    objectId: string,
    versions: readonly string[] | null,
    deletedAtUs: number,
  ): Promise<DeletedVersion[]>
}
