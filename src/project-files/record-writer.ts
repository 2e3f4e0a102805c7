/** The contract of the writers of both formats. */
import type { ProjectRecord } from './record-kinds.ts'

export interface RecordWriter {
  write(records: readonly ProjectRecord[]): Promise<void>
  /** Resolves when the file is complete. */
  end(): Promise<void>
}
