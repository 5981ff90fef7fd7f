const BEAT_MS = 1_000

interface Job {
  readonly seconds: number
  left: number
  readonly work: () => void
}

const jobs = new Set<Job>()
let timer: NodeJS.Timeout | undefined

/**
 * Does the work every so many seconds, together with all that this process does so often: an idle process wakes once a second, and
 * what it asks of the store then is sent at once. Does not keep the process alive.
 * @returns the function that ends it
 */
export function onBeat(seconds: number, work: () => void): () => void {
  const job = { seconds, left: seconds, work }
  jobs.add(job)
  timer ??= setInterval(beat, BEAT_MS).unref()
  return () => {
    jobs.delete(job)
    if (jobs.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function beat(): void {
  for (const job of jobs) {
    if (--job.left > 0) continue
    job.left = job.seconds
    job.work()
  }
}
