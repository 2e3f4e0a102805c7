/** What all command lines share: help, and one message for whatever fails. */
import { ApiError } from './errors.ts'

/** Arguments that are wrong or missing. */
export class UsageError extends Error {}

/**
 * Runs a command line. `--help`, `-h` and wrong arguments print the usage; a failure prints one message and sets exit
 * code 1.
 *
 * @param run - gets the arguments; throws UsageError, or what parseArgs throws, for wrong ones
 */
export async function runCommand(
  usage: string,
  run: (args: string[]) => Promise<void>,
): Promise<void> {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`)
    return
  }
  try {
    await run(args)
  } catch (error) {
    process.stderr.write(`weft: ${describe(error, usage)}\n`)
    process.exitCode = 1
  }
}

function describe(error: unknown, usage: string): string {
  if (!(error instanceof Error)) return String(error)
  // Its message is for clients over HTTP, who must not see the cause. That of another thread has its stack below.
  if (error instanceof ApiError && error.cause instanceof Error)
    return `${error.message} (${error.cause.message.split('\n', 1)[0]})`
  const isOfParser = /^ERR_PARSE_ARGS/.test((error as NodeJS.ErrnoException).code ?? '')
  return isOfParser || error instanceof UsageError ? `${error.message}\n${usage}` : error.message
}
