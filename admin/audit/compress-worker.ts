import { createInterface } from 'node:readline'
import { lowerProcessShare } from '../../core/system/lower-process-share.ts'
import { writeCompressed } from './compress-hour.ts'
import type { CompressAnswer, CompressJob } from './compress-process.ts'

/** Uses what calls and everything else leave over. */
const LOWEST = 19

lowerProcessShare(LOWEST)
process.title = 'agw-compress'
// Also when the process that started this one has ended. What is unfinished is removed before the next attempt. `exit` would
// wait for a read of a disk that hangs.
process.stdin.once('end', () => process.kill(process.pid, 'SIGKILL'))
const never = new AbortController().signal
for await (const line of createInterface({ input: process.stdin })) {
  const { folder, file } = JSON.parse(line) as CompressJob
  const answer = await writeCompressed(folder, file, never).then(
    (compressed): CompressAnswer => ({ of: file, compressed }),
    ({ message, code }: NodeJS.ErrnoException): CompressAnswer => ({
      of: file,
      failure: { message, code },
    }),
  )
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
