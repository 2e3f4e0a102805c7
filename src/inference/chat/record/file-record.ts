/** Records an answer that need not be JSON: text verbatim, other content only by its size. */
import type { Delta } from '../../backend.ts'
import { RECORDED_CHARS_MAX } from './completion-record.ts'

export interface FileRecord {
  note(delta: Delta): void
  /** Returns the JSON text of the answer received so far. */
  output(): string
}

export function createFileRecord(): FileRecord {
  let json: string | null = null
  let contentType: string | null = null
  let byteCount = 0
  let texts: Uint8Array[] = []

  return {
    note(delta) {
      if (delta.type === 'relayed') json = delta.texts[0]?.json ?? null
      if (delta.type !== 'bytes') return
      contentType = delta.contentType
      for (const piece of delta.pieces) byteCount += piece.length
      const isKept = contentType.startsWith('text/') && byteCount <= RECORDED_CHARS_MAX
      if (isKept) texts.push(...delta.pieces)
      else texts = []
    },
    output() {
      if (json !== null) return json
      if (contentType === null) return 'null'
      const text = texts.length === 0 ? {} : { text: Buffer.concat(texts).toString('utf8') }
      return JSON.stringify({ content_type: contentType, bytes: byteCount, ...text })
    },
  }
}
