import { runReceiver } from './run-receiver.ts'

// Whoever looks for processors by their command lines, to end them, say, does not mean this one.
process.title = 'agw-access-log'
// Sockets of this process are for its own user alone.
process.umask(0o077)

runReceiver(process.env).catch((error: unknown) => {
  process.stderr.write(
    `the access log receiver cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
  )
  process.exit(1)
})
