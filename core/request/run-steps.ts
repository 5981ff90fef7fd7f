/** All steps at once. */
export function runSteps<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** One step after the other: `pause` lets the event loop do other work. */
export async function runStepsWith<T>(
  steps: Generator<undefined, T>,
  pause: () => Promise<void>,
): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await pause()
  }
}
