import { join } from 'node:path'
import type { Settings } from '../../core/settings/settings.ts'

const UNIX = 'unix:'

/** One address per worker: the next port, or the socket name with -2, -3 before its extension. */
export function extProcAddresses(
  settings: Pick<Settings, 'extProcAddress' | 'extProcWorkers'>,
  socketFolder: string,
): string[] {
  const first = settings.extProcAddress ?? `${UNIX}${join(socketFolder, 'ext-proc.sock')}`
  return Array.from({ length: settings.extProcWorkers }, (_, index) => nth(first, index))
}

function nth(first: string, index: number): string {
  if (index === 0) return first
  if (first.startsWith(UNIX)) return first.replace(/(\.[^./]*)?$/, `-${index + 1}$1`)
  const colon = first.lastIndexOf(':')
  return `${first.slice(0, colon)}:${Number(first.slice(colon + 1)) + index}`
}
