/** The URI scheme of refs of this server, from its OpenAPI document. */
export function refScheme(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="ref-scheme"]')?.content ?? 'weave'
}
