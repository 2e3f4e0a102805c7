/** Requests about aliases, the names by which a project serves models. */
import type { z } from 'zod'
import type {
  AliasArmsResponse,
  ServedAliasResponse,
} from '../../../schemas/models/served-alias.ts'
import { requestJson } from '../../api/client.ts'

export type Alias = ServedAliasResponse
export type Arms = z.infer<typeof AliasArmsResponse>

const URL = '/v1/preview/aliases'
const pathOf = (name: string) => `${URL}/${encodeURIComponent(name)}`
const ofProject = (project_id: string, more: object = {}) =>
  `?${new URLSearchParams({ project_id, ...more })}`

export async function readAliases(
  project: string,
  signal?: AbortSignal,
): Promise<readonly Alias[]> {
  const path = `${URL}${ofProject(project)}`
  const { aliases } = await requestJson<{ aliases: Alias[] }>(path, undefined, { signal })
  return aliases
}

/** @param since - as RFC 3339; '': since the name was set last */
export function readArms(alias: Alias, since: string, signal: AbortSignal): Promise<Arms> {
  const named = ofProject(alias.project_id, since === '' ? {} : { since })
  return requestJson(`${pathOf(alias.name)}/arms${named}`, undefined, { signal })
}

type Setting = Pick<Alias, 'project_id' | 'name' | 'target' | 'candidate'>

export function setAlias({ project_id, name, target, candidate }: Setting): Promise<Alias> {
  const body = { project_id, target, candidate }
  return requestJson(pathOf(name), body, { method: 'PUT' })
}

/** Serves the earlier model again, without a candidate. */
export function rollBack({ project_id, name }: Alias): Promise<Alias> {
  return requestJson(`${pathOf(name)}/roll-back`, { project_id })
}

export function deleteAlias({ project_id, name }: Alias): Promise<unknown> {
  return requestJson(`${pathOf(name)}${ofProject(project_id)}`, undefined, { method: 'DELETE' })
}
