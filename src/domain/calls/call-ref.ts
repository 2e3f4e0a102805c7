/** The ref by which feedback refers to a call. Pure. */
export function callRef(scheme: string, project_id: string, id: string): string {
  return `${scheme}:///${project_id}/call/${id}`
}
