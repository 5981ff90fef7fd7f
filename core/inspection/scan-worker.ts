import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { answerJob, type ScanJob } from './answer-job.ts'

/** If both share one core, the event loop gets three times as much of it, because other calls wait for it. */
const NICENESS = 5

// On Linux this is the priority of the thread; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(NICENESS)

parentPort?.on('message', (job: ScanJob) => {
  const { reply, transfer } = answerJob(job)
  parentPort?.postMessage(reply, transfer)
})
