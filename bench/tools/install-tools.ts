/** Installs programs to compare with: `npm run tools -- chdb node-llama-cpp portkey phoenix mlflow`. */

import { readArguments, refuseArguments } from '../../examples/script-arguments.ts'
import { installTool, PYTHON_TOOLS, TOOLS, type ToolName } from './find-tool.ts'

const { positionals: names } = readArguments({ allowPositionals: true })
const known = [...Object.keys(TOOLS), ...Object.keys(PYTHON_TOOLS)]
const isTool = (name: string): name is ToolName => known.includes(name)

if (names.length === 0 || !names.every(isTool)) {
  refuseArguments(`name at least one of: ${known.join(', ')}`)
}
for (const name of names) {
  const code = installTool(name)
  if (code !== 0) process.exit(code)
}
