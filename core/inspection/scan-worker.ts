import { lowerThreadPriority } from '../system/lower-thread-priority.ts'
import { answerJob } from './answer-job.ts'
import { answerJobs } from './answer-jobs.ts'

// Other calls wait for the event loop of the process that started this one.
lowerThreadPriority()
process.title = 'agw-scan'
answerJobs(answerJob)
// A manager of services may signal all processes at once. The one that started this one still has calls to finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
