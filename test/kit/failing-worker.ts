import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { answerJob } from '../../core/inspection/answer-job.ts'
import { answerJobs } from '../../core/inspection/answer-jobs.ts'
import { writeFrame } from '../../core/inspection/frames.ts'

/** A scan process that fails as the first letters of a body say; with other bodies it works as the real one. */
answerJobs((job) => {
  const order = (job.kind === 'call' && job.body?.toString('latin1', 0, 16)) || ''
  if (order.startsWith('crash')) process.exit(1)
  if (order.startsWith('throw')) throw new Error('thrown on purpose')
  // A reply that says that nothing was found, for a job that comes later.
  if (order.startsWith('early')) {
    const { body: _, ...reply } = answerJob({ ...job, body: null } as typeof job)
    const parts: Buffer[] = []
    writeFrame(toList(parts), { value: { ...reply, job: 1_000_000 }, bytes: null })
    writeSync(3, Buffer.concat(parts))
  }
  if (order.startsWith('noise')) writeSync(3, Buffer.alloc(100, 0xff))
  // In native code.
  if (order.startsWith('hang')) /^(?:a+)+$/.test(`${'a'.repeat(64)}b`)
  const all: number[][] = []
  while (order.startsWith('grow')) all.push(Array.from({ length: 1_000 }, Math.random))
  return answerJob(job)
})

const toList = (parts: Buffer[]): Writable =>
  new Writable({
    write: (part: Buffer, _encoding, done) => {
      parts.push(part)
      done()
    },
  })
