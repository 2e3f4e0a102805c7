/** Assembles what a streamed message may have besides texts and calls: its audio, and its annotations. */
import { isObject } from '../../../domain/json/is-object.ts'
import { type RecordBudget, sizeOf } from './streamed-content.ts'

/** Fields of audio that arrive in pieces; the others come once. */
const AUDIO_PIECES = ['transcript', 'data'] as const

export interface StreamedExtras {
  /** Adds those of a delta. @returns whether it contained audio */
  add(delta: Readonly<Record<string, unknown>>): boolean
  /** The fields of the message that hold them; only those that came. */
  render(): { readonly audio?: unknown; readonly annotations?: unknown }
}

export function createStreamedExtras({ take, spend }: RecordBudget): StreamedExtras {
  let audio: Record<string, unknown> | null = null
  let annotations: unknown[] | null = null

  function addAudio(piece: unknown): boolean {
    if (!isObject(piece)) return false
    audio ??= {}
    let hasNews = false
    for (const name of AUDIO_PIECES) {
      const text = piece[name]
      if (typeof text !== 'string') continue
      audio[name] = `${audio[name] ?? ''}${take(text)}`
      hasNews ||= text !== ''
    }
    for (const name of ['id', 'expires_at']) audio[name] ??= piece[name]
    return hasNews
  }

  /** Some engines send one annotation instead of a list. */
  function addAnnotations(piece: unknown): void {
    const added = isObject(piece) ? [piece] : piece
    if (!Array.isArray(added) || added.length === 0) return
    annotations ??= []
    for (const one of added) if (spend(sizeOf(one))) annotations.push(one)
  }

  return {
    add(delta) {
      addAnnotations(delta.annotations)
      return addAudio(delta.audio)
    },
    render: () => ({
      ...(audio === null ? {} : { audio }),
      ...(annotations === null ? {} : { annotations }),
    }),
  }
}
