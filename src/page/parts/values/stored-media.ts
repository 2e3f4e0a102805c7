/** Pictures and sounds that Langfuse's SDKs have stored as files, and named in the trace by a text. */
import { html } from 'htm/preact'
import { request, requestJson } from '../../api/client.ts'
import { pageRoute } from '../../shell/location.ts'
import { formatCount } from '../format.ts'
import { useLoad } from '../hooks/use-load.ts'
import { Failure, Loading } from '../notice.ts'

interface StoredMedia {
  /** A type that every browser shows, and that runs nothing. */
  readonly type: string
  readonly id: string
}

const REFERENCE =
  /^@@@langfuseMedia:type=(image\/(?:png|jpe?g|gif|webp)|audio\/[\w.+-]+)\|id=([\w-]{22})\|source=\w+@@@$/
/** Limit: bytes that are loaded to be shown. */
const BYTES_MAX = 16 * 1024 * 1024

/** Returns what a text names; null for any other text, and media of types that are not shown. */
export function storedMediaIn(value: unknown): StoredMedia | null {
  const [, type = '', id = ''] = typeof value === 'string' ? (REFERENCE.exec(value) ?? []) : []
  return id === '' ? null : { type, id }
}

export function StoredMediaView({ type, id }: StoredMedia) {
  const project = pageRoute.value?.project ?? ''
  const loaded = useLoad(`${project} ${id}`, (signal) => readMedia(project, { type, id }, signal))
  if (loaded.value === null)
    return html`<${Failure} words=${loaded.failure} />${loaded.isLoading && html`<${Loading} />`}`
  const { url, bytes } = loaded.value
  if (url === null)
    return html`<p class="faint">${type} of ${formatCount(bytes)} bytes, too large to be shown</p>`
  return type.startsWith('image/')
    ? html`<img class="stored-media" src=${url} alt="picture of the trace" />`
    : html`<audio class="stored-media" controls src=${url} aria-label="sound of the trace"></audio>`
}

interface MediaObject {
  readonly obj: { readonly val: { readonly digest: string; readonly content_length: number } }
}

async function readMedia(project_id: string, { type, id }: StoredMedia, signal: AbortSignal) {
  const named = { project_id, object_id: `langfuse-media-${id}`, digest: 'latest' }
  const { obj } = await requestJson<MediaObject>('/obj/read', named, { signal })
  const { digest, content_length: bytes } = obj.val
  if (bytes > BYTES_MAX) return { url: null, bytes }
  const response = await request('/file/content', { project_id, digest }, { signal })
  const file = await response.blob()
  // The object is written by clients, and may state another length.
  if (file.size > BYTES_MAX) return { url: null, bytes: file.size }
  return { url: await toDataUrl(new Blob([file], { type })), bytes: file.size }
}

/** The page's policy allows data URLs, and no others. */
function toDataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}
