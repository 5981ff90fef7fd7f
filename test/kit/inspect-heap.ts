import { WebSocket } from 'undici'

export interface HeapInspector {
  /** Bytes in use after a forced collection. */
  readonly usedAfterCollection: () => Promise<number>
  readonly close: () => void
}

/**
 * Speaks to the inspector of a Node process, so that its heap is measured from outside and it runs no code for it.
 * @param log what a process started with `--inspect=127.0.0.1:0` has written
 */
export async function inspectHeap(log: string): Promise<HeapInspector> {
  const url = /Debugger listening on (ws:\/\/\S+)/.exec(log)?.[1]
  if (url === undefined) throw new Error('the process does not listen for an inspector')
  const socket = new WebSocket(url)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error('the inspector does not answer')))
  })
  let count = 0
  const waiting = new Map<number, (result: any) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  const send = (method: string): Promise<any> =>
    new Promise((resolve) => {
      waiting.set(++count, resolve)
      socket.send(JSON.stringify({ id: count, method }))
    })
  return {
    usedAfterCollection: async () => {
      // What the first one finalises, the second one frees.
      await send('HeapProfiler.collectGarbage')
      await send('HeapProfiler.collectGarbage')
      const { usedSize } = (await send('Runtime.getHeapUsage')) as { usedSize: number }
      return usedSize
    },
    close: () => socket.close(),
  }
}
