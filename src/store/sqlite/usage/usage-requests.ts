/**
 * Maintains which calls report the same request, and which one of them counts, in the write that changes either.
 * Writes nothing for calls whose response has no id and that no other call names.
 */
import {
  findCounting,
  isBefore,
  REQUEST_CALLS_MAX,
  requestOf,
  requestOfCall,
  responseKey,
  signatureOf,
} from '../../../domain/usage/request-identity.ts'
import type { CallUsage } from '../../../domain/usage/usage.ts'
import { isSamePackedId, type PackedId, packOptional } from '../calls/columns/id-columns.ts'
import { DELETE_REQUEST } from '../calls/removal/removal.sql.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './usage-requests.sql.ts'

type Key = number | bigint

/** Limit: calls that name one call as their request. */
const LINKING_MAX = REQUEST_CALLS_MAX

/** A call that begins to count. */
interface EnteringCall {
  readonly call_key: Key
  readonly project_key: Key
  readonly id: string
  readonly packed_id: PackedId
  readonly started_at_us: number
  readonly response_id: string | null
  readonly linked_id: string | null
}

/** Of FIND_LINKED, which may find no request, and of the statements that find members. */
interface MemberRow {
  readonly call_key: number
  readonly project_key: number
  readonly id: string
  readonly packed_id: PackedId
  readonly parent_id: string | null
  readonly packed_parent_id: PackedId | null
  readonly started_at_us: number
  readonly response_key: string | null
  readonly linked_id: PackedId | null
  readonly identity: string | null
  readonly is_shared: 0 | 1 | null
}

interface GroupRow extends MemberRow {
  readonly is_repeat: 0 | 1
  readonly has_reports_below: 0 | 1
}

interface Parties {
  findReports(call_key: Key): CallUsage[]
  /** Stores whether another call of the request counts. */
  setRepeat(call_key: Key, isRepeat: boolean): void
  /** Called for a call whose identity has changed, so that its parent's sums and its own are computed again. */
  onMoved(call: Pick<MemberRow, 'call_key' | 'project_key' | 'packed_parent_id'>): void
}

export type UsageRequests = ReturnType<typeof createUsageRequests>

export function createUsageRequests(db: Connection, parties: Parties) {
  const remove = db.prepare(DELETE_REQUEST)
  const findResponse = db.prepare(SQL.FIND_RESPONSE_KEY).pluck()
  const groups = createGroups(db, parties)
  const { put, touch } = groups
  const links = createLinks(db, parties, groups)

  return {
    touch,

    /** Keeps the response of a call whose end comes before its start. */
    keep(call_key: Key, project_key: Key, response_id: string | null | undefined): void {
      if (!response_id) return
      put({ call_key, project_key, response_key: responseKey(response_id), linked_id: null }, null)
    },

    /**
     * Identifies the request of a call that begins to count.
     *
     * @param isLate - whether its end was stored before
     * @returns its identity; null: none, or that of too many calls
     */
    enter(call: EnteringCall, usage: readonly CallUsage[], isLate: boolean): string | null {
      const { call_key, response_id } = call
      const signature = signatureOf(usage)
      const kept = isLate ? (findResponse.get({ call_key }) as string | null | undefined) : null
      const response_key = response_id === null ? (kept ?? null) : responseKey(response_id)
      const linked_id = packOptional(call.linked_id)
      const isLinked = links.isLinked(call)
      if (signature === null || (response_key === null && linked_id === null && !isLinked)) {
        return null
      }
      const row = { ...call, response_key, linked_id }
      const identity = links.resolve(row, signature)
      const isShared = put(row, identity)
      if (isLinked) links.relink(call)
      return isShared ? null : identity
    },

    /** Takes a deleted call out of its request. */
    leave(call: LeavingCall): void {
      remove.run(call.call_key)
      touch(call.project_key, call.identity)
      if (links.isLinked(call)) links.relink(call)
    },

    /** Decides for all changed requests. @returns whether there were any */
    settle: groups.settle,
  }
}

/** Decides which call of a request counts. */
function createGroups(db: Connection, { setRepeat, onMoved }: Parties) {
  const putRequest = db.prepare(SQL.PUT_REQUEST)
  const findShared = db.prepare(SQL.IS_SHARED).pluck()
  const selectMembers = db.prepare(SQL.SELECT_MEMBERS)
  const setShared = db.prepare(SQL.SET_SHARED)
  /** Requests whose calls have changed, with their projects. */
  const changed = new Map<string, { project_key: Key; identity: string }>()

  function touch(project_key: Key, identity: string | null): void {
    if (identity !== null) changed.set(`${project_key} ${identity}`, { project_key, identity })
  }

  function regroup(project_key: Key, identity: string): void {
    const limit = REQUEST_CALLS_MAX + 1
    const found = selectMembers.all({ project_key, identity, limit }) as GroupRow[]
    const is_shared = found.length > REQUEST_CALLS_MAX ? 1 : 0
    for (const member of found.filter((one) => one.is_shared !== is_shared)) {
      setShared.run({ call_key: member.call_key, is_shared })
      onMoved(member)
    }
    if (found.length === 0) return
    const counting = findCounting(
      found.map((member) => ({ ...member, hasReportsBelow: member.has_reports_below === 1 })),
    )
    for (const { call_key, is_repeat } of found) {
      const isRepeat = is_shared === 0 && call_key !== counting.call_key
      if (isRepeat !== (is_repeat === 1)) setRepeat(call_key, isRepeat)
    }
  }

  return {
    touch,

    /**
     * Stores what identifies the request of a call.
     *
     * @param identity - null: nothing yet
     * @returns whether it is known as that of too many calls
     */
    put(call: RequestRow, identity: string | null): boolean {
      const { call_key, project_key, response_key, linked_id } = call
      const is_shared = identity === null ? 0 : (findShared.get({ project_key, identity }) ?? 0)
      putRequest.run({ call_key, project_key, response_key, linked_id, identity, is_shared })
      touch(project_key, identity)
      return is_shared === 1
    },

    settle(): boolean {
      const requests = [...changed.values()]
      changed.clear()
      for (const { project_key, identity } of requests) regroup(project_key, identity)
      return requests.length > 0
    },
  }
}

/** Identifies the requests of calls that name each other. */
function createLinks(
  db: Connection,
  { findReports, setRepeat, onMoved }: Parties,
  { put, touch }: Pick<ReturnType<typeof createGroups>, 'put' | 'touch'>,
) {
  const findIsLinked = db.prepare(SQL.IS_LINKED).pluck()
  const selectLinking = db.prepare(SQL.SELECT_LINKING)
  const findLinked = db.prepare(SQL.FIND_LINKED)

  /** Whether other calls name this one. */
  function isLinked({ project_key, packed_id }: LinkedCall): boolean {
    return findIsLinked.get({ project_key, packed_id }) === 1
  }

  /** Returns the identity that a call shares with the one that it names; null: it shares none. */
  function identityOfLinked(call: LinkingCall, signature: string): string | null {
    const { project_key, linked_id } = call
    if (linked_id === null) return null
    const other = findLinked.get({ project_key, linked_id }) as MemberRow | undefined
    if (!other || other.call_key === Number(call.call_key)) return null
    if (signatureOf(findReports(other.call_key)) !== signature) return null
    if (isSamePackedId(other.linked_id, call.packed_id) && isBefore(call, other)) return null
    const identity = requestOf(other.response_key, signature) ?? requestOfCall(other.id, signature)
    if (other.identity === null) {
      put(other, identity)
      onMoved(other)
    }
    return identity
  }

  function resolve(call: LinkingCall, signature: string): string | null {
    const found = identityOfLinked(call, signature) ?? requestOf(call.response_key, signature)
    return found === null && isLinked(call) ? requestOfCall(call.id, signature) : found
  }

  return {
    isLinked,
    resolve,

    /** Identifies the calls again that name one which begins or ceases to count. */
    relink({ project_key, packed_id }: LinkedCall): void {
      const found = selectLinking.all({ project_key, packed_id, limit: LINKING_MAX })
      for (const call of found as MemberRow[]) {
        const signature = signatureOf(findReports(call.call_key))
        const identity = signature === null ? null : resolve(call, signature)
        if (identity === call.identity) continue
        touch(project_key, call.identity)
        put(call, identity)
        if (identity === null) setRepeat(call.call_key, false)
        onMoved(call)
      }
    },
  }
}

type LinkedCall = Pick<EnteringCall, 'project_key' | 'packed_id'>

interface LeavingCall extends LinkedCall {
  readonly call_key: Key
  readonly identity: string | null
}

/** What is stored to identify the request of a call. */
interface RequestRow {
  readonly call_key: Key
  readonly project_key: Key
  readonly response_key: string | null
  readonly linked_id: PackedId | null
}

interface LinkingCall extends RequestRow {
  readonly id: string
  readonly packed_id: PackedId
  readonly started_at_us: number
}
