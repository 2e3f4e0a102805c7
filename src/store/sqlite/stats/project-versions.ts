/** Numbers that tell whether the calls or the prices of a project have changed since an answer was made. */

/** Limit: projects that are told apart. */
const PROJECTS_MAX = 10_000

export interface ProjectVersions {
  /** Another text after every change. */
  of(project_id: string): string
  /** Inside of a write that changes the project, in the same turn as its commit. */
  raise(project_id: string): void
  /** When it is not known which projects were changed. */
  raiseAll(): void
}

export function createProjectVersions(): ProjectVersions {
  const versions = new Map<string, number>()
  let last = 0
  let forgotten = 0

  function raiseAll(): void {
    versions.clear()
    last += 1
    forgotten = last
  }

  return {
    of: (project_id) => String(versions.get(project_id) ?? forgotten),
    raise(project_id) {
      if (versions.size === PROJECTS_MAX && !versions.has(project_id)) raiseAll()
      last += 1
      versions.set(project_id, last)
    },
    raiseAll,
  }
}
