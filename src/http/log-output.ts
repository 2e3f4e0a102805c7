/**
 * Where log lines go: gathered for a moment and written together, since a system call for each line costs an
 * answer as much as its validation. What is gathered is written when the process ends by itself.
 */

/** Limits of what is gathered: characters and milliseconds. */
const GATHERED_CHARS_MAX = 64 * 1024
const GATHER_MS = 20

interface LogOutput {
  /** Takes one line with its line break. */
  write(line: string): void
  /** Writes what was gathered. */
  flush(): void
}

/** @param writeOut - writes before it returns */
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
