import { answerPings } from '../core/system/answer-pings.ts'
import { survivesItsReader } from '../core/system/line-output.ts'
import { runEdge } from './run-edge.ts'

// Sockets and files of this process are accessible only to its own user.
process.umask(0o077)
survivesItsReader()
answerPings()

runEdge(process.env).catch((error: unknown) => {
  process.stderr.write(
    `ext-proc cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
  )
  process.exit(1)
})
