import { answerPings } from '../../core/system/answer-pings.ts'
import { survivesItsReader } from '../../core/system/line-output.ts'
import { lowerProcessShare } from '../../core/system/lower-process-share.ts'
import { runReceiver } from './run-receiver.ts'

// The title distinguishes this process from processors, for tools that select them by command line.
process.title = 'agw-access-log'
// Sockets of this process are accessible only to its own user.
process.umask(0o077)
survivesItsReader()
answerPings()
// It works in bursts of some milliseconds ten times a second, which no call should wait for.
lowerProcessShare(5)

runReceiver(process.env).catch((error: unknown) => {
  process.stderr.write(
    `the access log receiver cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
  )
  process.exit(1)
})
