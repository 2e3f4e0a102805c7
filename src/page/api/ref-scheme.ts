/** Scheme of the refs of this server, as its document says. */
export function refScheme(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="ref-scheme"]')?.content ?? 'weave'
}
