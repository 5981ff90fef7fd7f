import { request } from 'node:http'

const ASK_LIMIT_MS = 500

/**
 * Tells Envoy to accept no new connections and to close each one with its next response. Calls in flight go on. An Envoy
 * that does not answer is stopped anyway, so nothing is thrown.
 * @param socketPath of Envoy's admin interface
 */
export async function drainEnvoy(socketPath: string): Promise<void> {
  await post(socketPath, '/drain_listeners?graceful&skip_exit')
  await post(socketPath, '/drain_listeners')
}

const post = (socketPath: string, path: string): Promise<void> =>
  new Promise((resolve) => {
    const asked = request({ socketPath, path, method: 'POST', timeout: ASK_LIMIT_MS }, (answer) =>
      answer.resume(),
    )
    asked.once('timeout', () => asked.destroy())
    asked.once('error', () => resolve())
    asked.once('close', () => resolve())
    asked.end()
  })
