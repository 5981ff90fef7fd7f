// Loaded into every test process. The runner sends this signal before it ends a process whose tests have all ended.
process.on('SIGUSR2', () => {
  const { _getActiveHandles: handlesOf } = process as unknown as {
    readonly _getActiveHandles: () => readonly object[]
  }
  const lines = handlesOf.call(process).map((handle) => `  ${describe(handle)}`)
  const resources = process.getActiveResourcesInfo().join(', ')
  process.stdout.write(`Still open: ${resources}\n${lines.join('\n')}\n`)
})

function describe(handle: object): string {
  const { constructor, spawnargs, pid, remoteAddress, remotePort, _server } = handle as {
    readonly [name: string]: unknown
    readonly constructor: { readonly name: string }
  }
  const facts = { spawnargs, pid, remoteAddress, remotePort, is_of_server: Boolean(_server) }
  return `${constructor.name} ${JSON.stringify(facts)}`
}
