/** Installs tools to compare with: `npm run tools -- chdb node-llama-cpp portkey`. */
import { installTool, TOOLS, type ToolName } from './tools.ts'

const names = process.argv.slice(2)
const isTool = (name: string): name is ToolName => Object.hasOwn(TOOLS, name)

if (names.length === 0 || !names.every(isTool)) {
  console.error(`name at least one of: ${Object.keys(TOOLS).join(', ')}`)
  process.exit(1)
}
for (const name of names) {
  const code = installTool(name)
  if (code !== 0) process.exit(code)
}
