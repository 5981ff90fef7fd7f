import { request } from 'node:http'

/** Reads a path of Envoy's admin interface; null if it does not answer in time. */
export const askEnvoy = (
  socketPath: string,
  path: string,
  limit_ms: number,
): Promise<string | null> =>
  new Promise((resolve) => {
    const none = (): void => resolve(null)
    const asked = request({ socketPath, path, timeout: limit_ms, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.once('error', none)
      answer.once('end', () => resolve(text))
    })
    asked.once('timeout', () => asked.destroy())
    asked.once('error', none)
    asked.end()
  })
