/**
 * Options of Node for the ext-proc processes. Each call makes a few kilobytes of short-lived objects. With the default young
 * generation of Node 20, which starts at 1 MiB and is collected by several threads, that was a seventh of the processor's time.
 * With 64 MiB each call writes to memory that is in no cache any more (docs/measurements.md). They cost up to 48 MiB a process.
 */
export const EXT_PROC_NODE_ARGS: readonly string[] = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
  '--no-parallel-scavenge',
]
