/** Processes that end when the process of the tests does, even when that one is killed. */
import { existsSync } from 'node:fs'

const SETPRIV = '/usr/bin/setpriv'

/** The command, started so that the kernel kills it with its parent; as it is where the system has no means for that. */
export function tieToParent(file: string, args: readonly string[]): [string, string[]] {
  return existsSync(SETPRIV) ? [SETPRIV, ['--pdeathsig', 'KILL', file, ...args]] : [file, [...args]]
}
