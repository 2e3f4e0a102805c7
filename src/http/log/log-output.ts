/**
 * Buffers log lines briefly and writes them together, because a system call per line costs a request as much as its
 * validation. The buffer is also written when the process exits.
 */

/** Limits of the buffer: characters and milliseconds. */
const GATHERED_CHARS_MAX = 64 * 1024
const GATHER_MS = 20

interface LogOutput {
  /** Adds one line with its line break. */
  write(line: string): void
  /** Writes the buffer. */
  flush(): void
}

/** @param writeOut - must write synchronously */
export function createLogOutput(writeOut: (text: string) => void): LogOutput {
  let lines: string[] = []
  let charCount = 0
  let timer: NodeJS.Timeout | null = null

  function flush(): void {
    clearTimeout(timer ?? undefined)
    timer = null
    if (lines.length === 0) return
    const text = lines.join('')
    lines = []
    charCount = 0
    writeOut(text)
  }

  return {
    write(line) {
      lines.push(line)
      charCount += line.length
      if (charCount >= GATHERED_CHARS_MAX) flush()
      else timer ??= setTimeout(flush, GATHER_MS)
    },
    flush,
  }
}
