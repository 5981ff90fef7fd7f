/**
 * Answers the pings of `agw start`, which kills a child that stops answering (cli/launcher/supervisor.ts). Does nothing in a
 * process that something else has started.
 */
export function answerPings(): void {
  process.on('message', (message) => {
    if ((message as { kind?: unknown } | null)?.kind !== 'ping') return
    // With a callback, a channel that has just closed does not raise an error in this process.
    process.send?.({ kind: 'pong' }, undefined, undefined, () => undefined)
  })
}
