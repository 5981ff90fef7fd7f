/** Where this machine reaches a program that listens there: a wildcard address by its loopback address. */
export function urlOf(scheme: string, host: string, port: number): string {
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`
}
