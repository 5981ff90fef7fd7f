import { Worker } from 'node:worker_threads'

const EVERY_MS = 1_000

/**
 * Ends this process soon after the one that started it has ended. A process that is busy does not notice that its channel is closed;
 * a thread of its own does, also while a native call never returns.
 */
export function endWithParent(parent: number): void {
  const code = `setInterval(() => {
    if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL')
  }, ${EVERY_MS})`
  new Worker(code, { eval: true }).unref()
}
