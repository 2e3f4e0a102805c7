import { defineConfig } from 'vitest/config'

/** One project per kind of test; the kind is the file's suffix. */
const KINDS = ['unit', 'prop', 'http', 'socket', 'contract', 'tidy'] as const

export default defineConfig({
  test: {
    // Files share a process: loading the server anew for each costs more than all of its tests.
    isolate: false,
    // The default leaves a core idle, which on two cores is half of them.
    maxWorkers: '100%',
    // Long, for machines that do other work too: only a test that hangs should meet it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: KINDS.map((kind) => ({
      extends: true as const,
      test: { name: kind, include: [`test/**/*.${kind}.test.ts`, `test/*.${kind}.test.ts`] },
    })),
  },
})
