/** Names by which a project serves models that it may exchange, with a share for a candidate. Pure. */
import type { ServedAliasResponse } from '../../schemas/models/served-alias.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { PROMPT_FIELDS, readEndUser } from '../calls/end-user.ts'
import { isObject } from '../json/is-object.ts'
import { isGiven } from '../json/json-values.ts'
import { hashFraction } from '../stats/hash-fraction.ts'

/** Limit: earlier targets that are kept. */
const EARLIER_MAX = 20

export interface ServedAlias {
  readonly project_id: string
  readonly name: string
  /** Name of the model that it serves. */
  readonly target: string
  /** Name of the model that gets a share of the traffic; null: none. */
  readonly candidate: string | null
  /** Percent of the end users or conversations, 0 to 100; null without a candidate. */
  readonly candidate_percent: number | null
  readonly earlier_json: string
  readonly updated_at_us: number
}

/** Which of its models an alias has chosen. */
export interface AliasChoice {
  readonly alias: string
  readonly arm: 'target' | 'candidate'
  /** Name of the model. */
  readonly model: string
}

/** Returns the earlier targets of an alias that gets another target, the newest first. */
export function addEarlier(found: ServedAlias | null, target: string): string[] {
  if (found === null) return []
  const earlier = earlierOf(found)
  return found.target === target ? earlier : [found.target, ...earlier].slice(0, EARLIER_MAX)
}

export function earlierOf({ earlier_json }: Pick<ServedAlias, 'earlier_json'>): string[] {
  return JSON.parse(earlier_json)
}

/**
 * Chooses between the target and the candidate: always the same for one end user, and without one for one conversation,
 * which is known by its first messages.
 *
 * Spec: §4.3 model, user (nothing of shares). Choice: a greater percent gives the candidate the same ones and more; a
 * request by which nothing can be chosen gets the target, as do those that the server makes itself.
 *
 * @param body - of the request; undefined: there is none
 */
export function chooseArm(alias: ServedAlias, body: unknown): AliasChoice {
  const { project_id, name, target, candidate, candidate_percent } = alias
  const stickyKey = candidate === null ? null : stickyKeyOf(body)
  if (candidate === null || candidate_percent === null || stickyKey === null)
    return { alias: name, arm: 'target', model: target }
  const fraction = hashFraction(`${project_id} ${name} ${stickyKey}`)
  return fraction * 100 < candidate_percent
    ? { alias: name, arm: 'candidate', model: candidate }
    : { alias: name, arm: 'target', model: target }
}

/** Returns what all requests of one end user or conversation have in common; null: there is neither. */
function stickyKeyOf(body: unknown): string | null {
  const user = readEndUser(null, body)
  if (user !== null) return `user ${user}`
  const prompt = isObject(body) ? PROMPT_FIELDS.map((field) => body[field]).find(isGiven) : null
  if (!isGiven(prompt)) return null
  if (!Array.isArray(prompt)) return `prompt ${JSON.stringify(prompt)}`
  const isUser = (item: unknown) => isObject(item) && item.role === 'user'
  return `conversation ${JSON.stringify(prompt.slice(0, prompt.findIndex(isUser) + 1 || 1))}`
}

export function renderAlias(alias: ServedAlias): ServedAliasResponse {
  const { project_id, name, target, candidate, candidate_percent: percent, updated_at_us } = alias
  return {
    project_id,
    name,
    target,
    candidate: candidate === null || percent === null ? null : { model: candidate, percent },
    earlier: earlierOf(alias),
    updated_at: renderTimestamp(updated_at_us),
  }
}
