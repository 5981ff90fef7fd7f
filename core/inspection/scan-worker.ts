import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../lower-thread-priority.ts'
import { answerJob, type ScanJob } from './answer-job.ts'

// Other calls wait for the event loop.
lowerThreadPriority()

parentPort?.on('message', (job: ScanJob) => {
  const { reply, transfer } = answerJob(job)
  parentPort?.postMessage(reply, transfer)
})
