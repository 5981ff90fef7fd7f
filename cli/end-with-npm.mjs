// npm forwards SIGINT and SIGTERM to what it runs, but not SIGHUP, and nothing at all when it is killed. Plain JavaScript
// without packages, since it runs before any is installed.

/** How soon the end of npm is noticed. */
const LOOK_MS = 250

/**
 * Under `npm start` this process ends with npm, as if it had received the signal itself. Elsewhere a parent may end first, as
 * it does under nohup.
 */
export function endWithNpm() {
  const { npm_lifecycle_event, npm_package_name } = process.env
  if (npm_lifecycle_event !== 'start' || npm_package_name !== 'agent-access-gateway') return
  const npm = process.ppid
  setInterval(() => {
    if (process.ppid !== npm) process.kill(process.pid, 'SIGTERM')
  }, LOOK_MS).unref()
}
