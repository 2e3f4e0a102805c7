/** How `weft start` starts Node, for scripts that start the server themselves. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Start {
  readonly START_FLAGS: readonly string[]
  /** Without the compile cache a server starts slower and takes some 20 MB more. */
  readonly START_ENVIRONMENT: Readonly<Record<string, string>>
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** @param checkout - the folder of package.json; one without the command `weft` has the flags of this one */
export function readStart(checkout: string): Start {
  const path = [checkout, ROOT].map((root) => join(root, 'src/weft.cjs')).find(existsSync)
  return createRequire(import.meta.url)(path ?? '') as Start
}

export const { START_FLAGS, START_ENVIRONMENT } = readStart(ROOT)
