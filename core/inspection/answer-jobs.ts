import { Socket } from 'node:net'
import { endWithParent } from './end-with-parent.ts'
import type { ScanJob, ScanReply } from './answer-job.ts'
import { frameReader, writeFrame } from './frames.ts'
import type { Numbered } from './scan-process.ts'

/** Larger than any body that Envoy accepts. */
const JOB_LIMIT_BYTES = 1 << 30

/** The side of the scan process: answers each job until the process that sends them has ended. */
export function answerJobs(answer: (job: ScanJob) => ScanReply): void {
  endWithParent(Number(process.argv[2]))
  const channel = new Socket({ fd: 3 })
  channel.on(
    'data',
    frameReader(JOB_LIMIT_BYTES, ({ value, bytes }) => {
      const { job, ...asked } = value as Numbered<ScanJob>
      const { body, ...reply } = answer({ ...asked, body: bytes } as ScanJob)
      const { user, system } = process.cpuUsage()
      writeFrame(channel, { value: { ...reply, job, cpu_us: user + system }, bytes: body })
    }),
  )
  channel.on('error', () => process.exit(1))
  channel.on('close', () => process.exit(0))
}
