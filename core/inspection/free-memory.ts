import { MessageChannel, type MessagePort } from 'node:worker_threads'

let nowhere: MessagePort | null = null

/**
 * Gives the memory of a body back at once. V8 counts it as part of its heap until a full collection finds it, and makes such
 * collections more often the more of it there is. Views of the memory are empty afterwards.
 */
export function freeMemory(memory: ArrayBuffer): void {
  if (nowhere === null) {
    const { port1, port2 } = new MessageChannel()
    port2.close()
    nowhere = port1
    nowhere.unref()
  }
  // What is transferred to a port that nobody reads from is freed.
  nowhere.postMessage(null, [memory])
}
