/** Returns the condition, order and limit of a part of a list by creation time, after a cursor. */
export function cursorCondition(order: 'asc' | 'desc', further = ''): string {
  return `(created_at_us, id) ${order === 'asc' ? '>' : '<'} (@after_us, @after_id)${further}
ORDER BY created_at_us ${order}, id ${order}
LIMIT @limit`
}
