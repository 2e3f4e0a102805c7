/**
 * The arguments of a script. What is wrong with them is told with the script's usage, which is the comment at its head, so
 * that there is one text to keep true.
 */
import { readFileSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Ends the process with the usage when that is asked for, or when the arguments are others. */
export function readArguments<T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  const given = process.argv.slice(2)
  if (given.includes('--help') || given.includes('-h')) {
    console.log(usageOf(process.argv[1] ?? ''))
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    return refuseArguments((error as Error).message)
  }
}

/** Arguments without names, all of them numbers. */
export function readCounts(
  given: readonly string[] = readArguments({ allowPositionals: true }).positionals,
): number[] {
  return given.map(readCount)
}

/** Ends the process with the usage when an argument is no number. */
export function readCount(text: string): number {
  const isNumber = text !== '' && Number(text) >= 0
  return isNumber ? Number(text) : refuseArguments(`${JSON.stringify(text)} is not a number`)
}

export function refuseArguments(message: string): never {
  console.error(`${message}\n\n${usageOf(process.argv[1] ?? '')}`)
  process.exit(1)
}

/** The first comment of a file, without its signs. */
function usageOf(path: string): string {
  const [, comment = ''] = /\/\*\*(.*?)\*\//s.exec(readFileSync(path, 'utf8')) ?? []
  return comment.replace(/^ *\* ?/gm, '').trim()
}
