/** Sorts the calls of a list by their fields. Pure. */
import { ApiError } from '../../errors.ts'
import { createKeyPicker } from '../query/row-query.ts'
import { callField, type ScannedCall } from './call-fields.ts'
import type { CallsSelection } from './calls-query.ts'

/** Limit: calls of one list that has to be sorted, at some 200 bytes each. */
const SORTED_MAX = 500_000

/** Collects the calls that match the condition of a selection, each with its key in the store. */
export function createCallsSort<Key>({ sort, offset, limit }: CallsSelection) {
  const isBounded = offset + limit <= SORTED_MAX
  const limitOfAll = SORTED_MAX - Math.min(offset, SORTED_MAX) + 1
  const page = { sort, offset, limit: isBounded ? limit : limitOfAll }
  const picked = createKeyPicker<Key, ScannedCall>(page, callField)
  return {
    /**
     * Adds a call; returns false when no later call can change the page. @throws ApiError validation_failed for too
     * many calls
     */
    add(key: Key, call: ScannedCall): boolean {
      const isWanted = picked.add(key, call)
      if (!isBounded && picked.count() > SORTED_MAX) throw tooMany()
      return isWanted
    },
    keys: picked.keys,
    /** Calls that were added. */
    count: picked.count,
  }
}

function tooMany(): ApiError {
  const message = `More than ${SORTED_MAX} calls match: add a filter, or read them in pages.`
  return new ApiError('validation_failed', { param: 'limit', message })
}
