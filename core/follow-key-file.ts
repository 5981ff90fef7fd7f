import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { type KeyRing, parseKeyRing } from './seal.ts'

const LOOK_INTERVAL_MS = 1_000

/**
 * Polls the file of AGW_ENCRYPTION_KEY_FILE and reports each change of its keys, so that a rotation needs no restart. A file
 * that is missing or contains no keys, such as one that is being replaced, is ignored.
 * @param onKeys is called again a second later if it fails
 * @returns the function that stops it
 */
export function followKeyFile(
  file: string | null,
  onKeys: (ring: KeyRing) => Promise<void>,
): () => void {
  if (file === null) return () => undefined
  const stopped = new AbortController()
  const { signal } = stopped
  const look = async (): Promise<void> => {
    let last = ''
    while (!signal.aborted) {
      const text = await readFile(file, 'utf8').catch(() => last)
      const ring = text === last ? null : ringOf(text.trim())
      if (ring !== null)
        await onKeys(ring).then(
          () => {
            last = text
          },
          // Tried again at the next look.
          () => undefined,
        )
      await wait(LOOK_INTERVAL_MS, undefined, { signal, ref: false })
    }
  }
  look().catch(() => undefined)
  return () => stopped.abort()
}

function ringOf(text: string): KeyRing | null {
  try {
    return parseKeyRing(text)
  } catch {
    return null
  }
}
