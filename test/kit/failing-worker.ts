import { answerJob } from '../../core/inspection/answer-job.ts'
import { answerJobs } from '../../core/inspection/answer-jobs.ts'

/** A scan process that fails as the first letters of a body say; with other bodies it works as the real one. */
answerJobs((job) => {
  const body = job.kind === 'call' && job.body !== null ? Buffer.from(job.body) : Buffer.alloc(0)
  const order = body.toString('latin1', 0, 16)
  if (order.startsWith('crash')) process.exit(1)
  if (order.startsWith('throw')) throw new Error('thrown on purpose')
  while (order.startsWith('hang'));
  const all: number[][] = []
  while (order.startsWith('grow')) all.push(Array.from({ length: 1_000 }, Math.random))
  return answerJob(job)
})
