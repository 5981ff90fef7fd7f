import { execFileSync } from 'node:child_process'

const { MCP_URL, OPENAI_API_KEY, MCP_INSPECTOR } = process.env
const call = (...args) =>
  execFileSync(
    process.execPath,
    [
      MCP_INSPECTOR,
      '--cli',
      MCP_URL,
      '--transport',
      'http',
      '--header',
      `Authorization: Bearer ${OPENAI_API_KEY}`,
      ...args,
    ],
    { encoding: 'utf8', timeout: 60_000 },
  )
call('--method', 'tools/list')
for (let turn = 0; turn < 8; turn++)
  call('--method', 'tools/call', '--tool-name', 'lookup_release', '--tool-arg', `version=1.${turn}`)
console.log('The session is complete.')
