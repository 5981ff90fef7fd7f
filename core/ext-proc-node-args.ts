/**
 * Options of Node for the ext-proc processes. Each call makes a few kilobytes of short-lived objects; with the default
 * young generation of Node 20, which starts at 1 MiB and is collected by several threads, that was a seventh of the
 * processor's time. `npm run bench` shows a tenth less CPU time per call with these. They cost up to 192 MiB a process.
 */
export const EXT_PROC_NODE_ARGS: readonly string[] = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--no-parallel-scavenge',
]
