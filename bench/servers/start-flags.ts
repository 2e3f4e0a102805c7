/** How `npm start` starts Node, for scripts that start the server themselves. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = new URL('../../package.json', import.meta.url)
const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: { start: string } }

export const START_FLAGS: readonly string[] = scripts.start.match(/--\S+/g) ?? []

const settingOf = (name: string) => new RegExp(`${name}=(\\S+)`).exec(scripts.start)?.[1] ?? ''
const compiled = new URL(`../../${settingOf('NODE_COMPILE_CACHE')}`, import.meta.url)

/** Without the compile cache a server starts slower and takes some 20 MB more. */
export const START_ENVIRONMENT = {
  NODE_COMPILE_CACHE: fileURLToPath(compiled),
  MALLOC_ARENA_MAX: settingOf('MALLOC_ARENA_MAX'),
}
