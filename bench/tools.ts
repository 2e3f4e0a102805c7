/**
 * Foreign programs that benchmarks and some tests compare with. They are too large for the project's own
 * dependencies: `npm run tools -- <name>` puts one of them into .tools, which git ignores.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

interface Tool {
  /** The package that is used. */
  readonly package: string
  /** Everything that is installed, with versions. */
  readonly install: readonly string[]
  /** Further arguments of the installation. */
  readonly flags: readonly string[]
}

/** What can be installed. */
export const TOOLS = {
  /** ClickHouse's engine; 550 MB. */
  chdb: { package: 'chdb', install: ['chdb@3.4.0'], flags: [] },
  /** llama.cpp; Linux on x64 only, which keeps it at 85 MB. */
  'node-llama-cpp': {
    package: 'node-llama-cpp',
    install: ['node-llama-cpp@3.22.1', '@node-llama-cpp/linux-x64@3.22.1'],
    flags: ['--omit=optional', '--ignore-scripts'],
  },
  /** Another gateway for chat completions. */
  portkey: {
    package: '@portkey-ai/gateway',
    install: ['@portkey-ai/gateway@1.15.2'],
    flags: ['--ignore-scripts'],
  },
} as const satisfies Record<string, Tool>

export type ToolName = keyof typeof TOOLS

const ROOT = fileURLToPath(new URL('../.tools/', import.meta.url))

/** Folder of the tool's package, with a slash at its end; null where it is not installed. */
export function findTool(name: ToolName): string | null {
  const folder = `${ROOT}${name}/node_modules/${TOOLS[name].package}/`
  return existsSync(folder) ? folder : null
}

/** Loads the tool's package; null where it is not installed. Its types are there only where it is. */
// biome-ignore lint/suspicious/noExplicitAny: its types are there only where it is installed.
export async function importTool(name: ToolName): Promise<any> {
  if (findTool(name) === null) return null
  const entry = createRequire(`${ROOT}${name}/package.json`).resolve(TOOLS[name].package)
  return import(entry)
}

/** Installs a tool with npm. @returns npm's exit code */
export function installTool(name: ToolName): number {
  const { install, flags } = TOOLS[name]
  const folder = `${ROOT}${name}`
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/package.json`, '{"private": true}\n')
  const args = ['install', '--no-audit', '--no-fund', ...flags, ...install]
  return spawnSync('npm', args, { cwd: folder, stdio: 'inherit' }).status ?? 1
}
