/** What each tool whose data is imported provides: stages of pages, each with a cursor behind it. */
import type { CallParts } from '../domain/calls/new-call.ts'
import type { Feedback } from '../domain/feedback/new-feedback.ts'
import type { ExperimentRun } from '../domain/otel/experiments.ts'

/** Where the data comes from and where it goes. */
export interface ImportTarget {
  /** `<entity>/<project>` in Weft. */
  readonly project_id: string
  /** URI scheme of refs. */
  readonly refScheme: string
  readonly feedbackPayloadBytesMax: number
  /** Limit: bytes of one message of a file. */
  readonly messageBytesMax: number
}

export interface SourceOptions extends ImportTarget {
  /** A path or an address. */
  readonly location: string
  /** What the tool calls a project, an experiment or a session; null: its default, or all. */
  readonly sourceName: string | null
  /** The value of an environment variable; null when it is unset. Secret. */
  readonly readSecret: (name: string) => string | null
}

/** A dataset in one of its versions. */
export interface ImportedDataset {
  readonly name: string
  readonly description: string | null
  readonly created_at_us: number
  /** JSON objects, in order. */
  readonly rows: AsyncIterable<object> | Iterable<object>
}

/** A version of an object, such as a prompt. */
export interface ImportedObject {
  readonly name: string
  readonly val: object
  /** Null where the tool has no time: then it is that of the import. */
  readonly created_at_us: number | null
  readonly tags?: readonly string[]
  /** Names that lead to this version alone. */
  readonly aliases?: readonly string[]
  /** The digest in its refs there: an alias where it is another one here. */
  readonly sourceDigest?: string
}

/** A file of the digest that values name. */
export interface ImportedFile {
  readonly digest: string
  /** Null when the tool has none of the digest; called only for a file that is not stored. */
  readonly read: () => Promise<Buffer | null>
}

/** A table of the digest that refs name. */
export interface ImportedTable {
  readonly digest: string
  /** Read only when it is not stored. */
  readonly rows: AsyncIterable<object>
}

/** What is read at once; written in this order: versions of a name come oldest first. */
export interface ImportPage {
  readonly files?: readonly ImportedFile[]
  readonly calls?: readonly CallParts[]
  /** Runs of which there are trials among the calls. */
  readonly runs?: readonly ExperimentRun[]
  readonly feedback?: readonly Feedback[]
  readonly datasets?: readonly ImportedDataset[]
  readonly tables?: readonly ImportedTable[]
  readonly objects?: readonly ImportedObject[]
  /** What was left out, by why, with its number. */
  readonly left?: Readonly<Record<string, number>>
  /** What `pages` is given to continue after this page: null repeats the stage, '' ends it. */
  readonly cursor: string | null
}

interface ImportStage {
  /** Noun of what it holds, in the plural. */
  readonly name: string
  /** @param after - cursor of the last page that was stored, not ''. @throws ImportError */
  pages(after: string | null): AsyncIterable<ImportPage>
}

export interface ImportSource {
  readonly stages: readonly ImportStage[]
  /** What the tool may have that has no counterpart and is not read, each as a noun. */
  readonly unread: readonly string[]
}

export type OpenSource = (options: SourceOptions) => ImportSource

/** Data that cannot be read; the message is one line. */
export class ImportError extends Error {
  /** Of the last response; null without one. */
  readonly status: number | null

  constructor(message: string, status: number | null = null) {
    super(message)
    this.name = 'ImportError'
    this.status = status
  }
}

/** The user in whose name everything is stored. */
export const IMPORT_USER = { svc_user_id: 'import', svc_username: 'import' } as const

/** Counts what was left out, by why. */
export function createLeftCounts() {
  const counts: Record<string, number> = {}
  return {
    counts,
    add(reason: string, count = 1) {
      if (count > 0) counts[reason] = (counts[reason] ?? 0) + count
    },
  }
}
