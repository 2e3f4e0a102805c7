/** Names of runs in filters. Pure. */

/**
 * Returns the names under which runs may be stored.
 *
 * Spec: §2.7 svc_run_ids. Choice: a run of the project is found by its name alone and behind the project's.
 */
export function runNames(project_id: string, entries: readonly string[]): string[] {
  const prefix = `${project_id}/`
  return entries.flatMap((entry) => {
    if (entry.startsWith(prefix)) return [entry, entry.slice(prefix.length)]
    return entry.includes('/') ? [entry] : [entry, prefix + entry]
  })
}
