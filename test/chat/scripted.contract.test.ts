import { createLazyBackend } from '../../src/inference/models/lazy-backend.ts'
import { createScriptedBackend, HELLO } from '../support/scripted-backend.ts'
import { describeBackendContract } from './backend-contract.ts'

describeBackendContract('the scripted backend of the tests', async () => {
  const backend = createScriptedBackend(HELLO)
  return { backend, model: 'm', runningCount: backend.runningCount }
})

describeBackendContract('a lazily opened backend', async () => {
  const scripted = createScriptedBackend(HELLO)
  const { kind, fields, runningCount } = scripted
  return {
    backend: createLazyBackend({ kind, fields, takesAdapters: false, open: () => scripted }),
    model: 'm',
    runningCount,
  }
})
