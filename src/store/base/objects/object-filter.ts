/** What filters of versions of objects ask for, in SQLite and PostgreSQL alike. */
import type { ObjectVersionFilter } from '../../../schemas/objects/object.ts'

/** Returns the values of the conditions; one of null does not apply. */
export function conditionsOf(filter: ObjectVersionFilter) {
  const { is_op } = filter
  return {
    kind: is_op === null || is_op === undefined ? null : is_op ? 'op' : 'object',
    latest_only: filter.latest_only ? true : null,
    object_ids: toList(filter.object_ids),
    base_object_classes: toList(filter.base_object_classes),
    exclude_base_object_classes: toList(filter.exclude_base_object_classes),
    leaf_object_classes: toList(filter.leaf_object_classes),
    tags: toList(filter.tags),
    aliases: toList(filter.aliases),
  }
}

function toList(names: readonly string[] | null | undefined): readonly string[] | null {
  return names && names.length > 0 ? names : null
}
