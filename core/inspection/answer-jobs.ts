import { Socket } from 'node:net'
import type { ScanJob, ScanReply } from './answer-job.ts'
import { frameReader, writeFrame } from './frames.ts'

/** The side of the scan process: answers each job until the process that sends them is gone. */
export function answerJobs(answer: (job: ScanJob) => ScanReply): void {
  const channel = new Socket({ fd: 3 })
  channel.on(
    'data',
    frameReader(({ value, bytes }) => {
      const { body, ...reply } = answer({ ...(value as ScanJob), body: bytes } as ScanJob)
      writeFrame(channel, { value: reply, bytes: body })
    }),
  )
  channel.on('error', () => process.exit(1))
  channel.on('close', () => process.exit(0))
}
