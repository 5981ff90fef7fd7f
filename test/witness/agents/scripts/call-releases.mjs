import { Client } from '@modelcontextprotocol/sdk/client/index.js'

/** A session of eight calls of the tool. */
export async function callReleases(transport) {
  const client = new Client({ name: 'witness', version: '1.0.0' })
  await client.connect(transport)
  await client.listTools()
  for (let turn = 0; turn < 8; turn++) {
    const call = { name: 'lookup_release', arguments: { version: `1.${turn}` } }
    const { isError } = await client.callTool(call)
    if (isError) throw new Error('the tool failed')
  }
  await client.close()
  console.log('The session is complete.')
}
