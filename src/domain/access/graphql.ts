/**
 * Answers the three GraphQL operations that tracing SDKs send when they start. No GraphQL engine: an operation is
 * known by the first field that it asks for. Pure.
 */
import type { GraphqlRequest, GraphqlResponse } from '../../schemas/access/graphql.ts'
import { ProjectId } from '../../schemas/primitives.ts'
import { canUseProject, type Principal } from './permissions.ts'

/** Entity of keys that may use all. */
const DEFAULT_ENTITY = 'default'

const FIRST_FIELD = /\{\s*(?:\w+\s*:\s*)?(\w+)/

/**
 * Returns the response of an operation. Projects need not be made: each that the key may use exists.
 *
 * Spec: §5 (Basic; GraphQL is an addition). Choice: what is not known is answered as GraphQL answers a
 * field that does not exist.
 */
export function resolveGraphql(
  { query, variables }: GraphqlRequest,
  caller: Principal,
): GraphqlResponse {
  const field = FIRST_FIELD.exec(query.replace(/#.*$/gm, ''))?.[1] ?? ''
  const { name, entityName, entity } = variables ?? {}
  if (field === 'viewer') {
    const defaultEntity = { name: defaultEntityOf(caller) }
    return { data: { viewer: { username: caller.svc_username, defaultEntity } } }
  }
  if (field === 'project') {
    const isKnown = canUse(caller, entityName, name)
    return { data: { project: isKnown ? { name } : null } }
  }
  if (field === 'upsertModel') {
    if (!canUse(caller, entity, name)) return failed('The key may not use this project.')
    return { data: { upsertModel: { model: { name, description: null } } } }
  }
  return failed(`Cannot query field "${field}".`)
}

function canUse(caller: Principal, entity: unknown, name: unknown): boolean {
  const project = ProjectId.safeParse(`${entity}/${name}`)
  const isNamed = typeof entity === 'string' && typeof name === 'string'
  return isNamed && project.success && canUseProject(caller, project.data)
}

/** The entity of the first pattern that has one. */
function defaultEntityOf({ projects }: Principal): string {
  const entity = projects.find((pattern) => pattern.includes('/'))?.split('/')[0]
  return entity ?? DEFAULT_ENTITY
}

function failed(message: string): GraphqlResponse {
  return { data: null, errors: [{ message }] }
}
