import { statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { makeRunFolder } from './test/support/run-folder.ts'
import { createSkipReporter } from './test/support/skip-reporter.ts'

const MEMORY = '/dev/shm'
const MEMORY_BYTES_MIN = 4 * 1024 ** 3

/** Where tests make their folders: in memory where there is room, for most of what they would wait for is a disk that syncs. */
function temporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize < MEMORY_BYTES_MIN ? tmpdir() : MEMORY
  } catch {
    return tmpdir()
  }
}

// What one process has compiled, others need not compile again. Node looks for it when a process starts, so it stands here.
process.env.NODE_COMPILE_CACHE = resolve('node_modules/.cache/compiled')

export default defineConfig({
  test: {
    // Files share a process: loading the server anew for each costs more than all of its tests. For that all kinds are of one
    // project, too; the kind is the file's suffix, and scripts choose by it.
    include: ['test/**/*.test.ts'],
    isolate: false,
    setupFiles: ['test/support/property-seed.ts'],
    reporters: [
      'default',
      createSkipReporter((text) => process.stdout.write(text), process.env.npm_lifecycle_event),
    ],
    // Node loads the files as it does for the server: the sources are what it runs without a build.
    experimental: { viteModuleRunner: false },
    // More than there are cores, as tests of sockets, processes and pages wait for the most part. Each compiles the same code
    // anew, so that with more of them a run takes more processor time.
    maxWorkers: availableParallelism() + 1,
    // Long, for machines that do other work too: only a test that hangs should meet them.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { TMPDIR: makeRunFolder(temporaryFolder()) },
    expect: { poll: { timeout: 30_000, interval: 10 } },
  },
})
