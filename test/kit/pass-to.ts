import { headerValue } from './start-processor.ts'

interface Options {
  readonly up?: 'http' | 'https' | 'echo'
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer by which a processor lets a call go to `host`, at `path`. */
export function passTo(host: string, path: string, secret: string, options: Options = {}): object {
  const headers = {
    ':path': path,
    'x-agw-host': host,
    'x-agw-base-url': `http://${host}`,
    'x-agw-up': options.up ?? 'http',
    'x-agw-pass': secret,
    ...options.headers,
  }
  const set_headers = Object.entries(headers).map(([name, value]) => headerValue(name, value))
  return { response: { header_mutation: { set_headers }, clear_route_cache: true } }
}
