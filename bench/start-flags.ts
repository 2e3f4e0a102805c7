/** How `npm start` starts Node, for scripts that start the server themselves. */
import { readFileSync } from 'node:fs'

const file = new URL('../package.json', import.meta.url)
const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: { start: string } }

export const START_FLAGS: readonly string[] = scripts.start.match(/--\S+/g) ?? []
