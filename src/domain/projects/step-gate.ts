/** Lets a change of a setting wait for the step of an expiry that began before it. */

export interface StepGate {
  /** Runs a step; one at a time. */
  run<T>(step: () => Promise<T>): Promise<T>
  /** Resolves when the step that is running now has ended. */
  settled(): Promise<void>
}

export function createStepGate(): StepGate {
  let running: Promise<unknown> = Promise.resolve()
  return {
    run(step) {
      const result = step()
      running = result.catch(() => undefined)
      return result
    },
    async settled() {
      await running
    },
  }
}
