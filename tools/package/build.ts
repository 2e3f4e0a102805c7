/**
 * Builds the package: `dist/` is `src/` with its modules compiled to JavaScript. Declarations are those of the schemas,
 * which programs may import.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, rmSync } from 'node:fs'

const TSC = 'node_modules/typescript/bin/tsc'
/** Read as they are. */
const ASSETS = 'src/**/*.{cjs,css,gguf,html,svg}'

process.chdir(`${import.meta.dirname}/../..`)
rmSync('dist', { recursive: true, force: true })
for (const project of ['page', 'server', 'schemas']) {
  const args = [TSC, '-p', `tools/package/${project}.json`]
  execFileSync(process.execPath, args, { stdio: 'inherit' })
}
for (const path of globSync(ASSETS)) cpSync(path, path.replace('src', 'dist'))
chmodSync('dist/weft.cjs', 0o755)
