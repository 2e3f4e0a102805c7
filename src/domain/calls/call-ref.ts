/** The ref under which feedback speaks of a call. Pure. */
export function callRef(scheme: string, project_id: string, id: string): string {
  return `${scheme}:///${project_id}/call/${id}`
}
