/**
 * Other programs that benchmarks and some tests compare with. They are too large to be dependencies of the
 * project: `npm run tools -- <name>` puts one of them into .tools, which git ignores.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

interface Tool {
  /** The package that is loaded. */
  readonly package: string
  /** All packages to install, with versions. */
  readonly install: readonly string[]
  /** More arguments for the installation. */
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

/** Programs in Python, each in an environment of its own, with the command that starts it. */
export const PYTHON_TOOLS = {
  /** Arize's trace server; 850 MB. */
  phoenix: { command: 'phoenix', install: ['arize-phoenix==20.26.1'] },
  /** Another trace server; 700 MB. */
  mlflow: { command: 'mlflow', install: ['mlflow==3.17.2'] },
  /** Another gateway; 500 MB. The extra of the newest releases names a package that was not to be had. */
  litellm: { command: 'litellm', install: ['litellm[proxy]==1.83.14'] },
} as const

type NpmToolName = keyof typeof TOOLS
export type PythonToolName = keyof typeof PYTHON_TOOLS
export type ToolName = NpmToolName | PythonToolName

const ROOT = fileURLToPath(new URL('../../.tools/', import.meta.url))

/** Folder of the tool's package, with a trailing slash; null if it is not installed. */
export function findTool(name: NpmToolName): string | null {
  const folder = `${ROOT}${name}/node_modules/${TOOLS[name].package}/`
  return existsSync(folder) ? folder : null
}

/** Loads the tool's package; null if it is not installed. */
// biome-ignore lint/suspicious/noExplicitAny: its types exist only if it is installed.
export async function importTool(name: NpmToolName): Promise<any> {
  if (findTool(name) === null) return null
  const entry = createRequire(`${ROOT}${name}/package.json`).resolve(TOOLS[name].package)
  return import(entry)
}

/** The command of a program in Python; null where it is not installed. */
export function findCommand(name: PythonToolName): string | null {
  const command = `${ROOT}${name}/venv/bin/${PYTHON_TOOLS[name].command}`
  return existsSync(command) ? command : null
}

/** Installs a tool with npm or pip. @returns its exit code */
export function installTool(name: ToolName): number {
  return name in PYTHON_TOOLS
    ? installPython(name as PythonToolName)
    : installNpm(name as NpmToolName)
}

function installNpm(name: NpmToolName): number {
  const { install, flags } = TOOLS[name]
  const folder = `${ROOT}${name}`
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/package.json`, '{"private": true}\n')
  return run('npm', ['install', '--no-audit', '--no-fund', ...flags, ...install], folder)
}

function installPython(name: PythonToolName): number {
  const folder = `${ROOT}${name}`
  mkdirSync(folder, { recursive: true })
  const code = run('python3', ['-m', 'venv', 'venv'], folder)
  if (code !== 0) return code
  const { install } = PYTHON_TOOLS[name]
  return run(`${folder}/venv/bin/pip`, ['install', '--only-binary', ':all:', ...install], folder)
}

function run(command: string, args: readonly string[], cwd: string): number {
  return spawnSync(command, args, { cwd, stdio: 'inherit' }).status ?? 1
}
