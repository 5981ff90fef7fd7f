import { parseArgs } from 'node:util'
import { CREDENTIAL_TYPES } from '../core/credential/catalogue.ts'
import type { PlainAuth } from '../core/store/credential-binding.ts'
import { beginRecord } from '../ext-proc/record/begin-record.ts'
import { decideCall } from '../ext-proc/call/decide-call.ts'
import { sampleAuths, samplePrivateKey } from '../test/kit/sample-auth.ts'
import { openGateway } from '../test/unit/decision-kit.ts'

/**
 * `npm run bench -- credentials [--rounds 400]`: CPU time of a decision with each type of credential beside `bearer`, with everything
 * around it faked and a token in the cache. The types take turns, so that what else the machine does falls on all of them; the median
 * of the rounds counts. Signatures are shown, and not judged. Fails if a type costs more than 3 % of a whole call above `bearer`.
 */
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '400' } } })
const CALLS_A_ROUND = 100
const WARM_ROUNDS = 20
/** CPU time of a GET by all processes on a quiet machine (docs/measurements.md), in µs. */
const WHOLE_CALL_US = 168
const SHARE_MAX = 0.03
const { pem } = samplePrivateKey()
const SECRET = 'a-secret-of-some-length-0123456789'

const rows = CREDENTIAL_TYPES.map((declared) => {
  const [sample = {}] = sampleAuths(declared, 'https://auth.example.com', (_, { text }) =>
    text === 'private_key' ? pem : SECRET,
  )
  const isInPath = declared.type === 'placeholder'
  const { services, headers } = openGateway(
    {
      auth: { ...sample, ...(isInPath ? { paths: '/models/{agw:token}' } : {}) } as PlainAuth,
      url: `https://api.example.com/v1/models/${isInPath ? '{agw:token}' : 'a'}`,
      method: 'GET',
      body: '',
      scope: { mcp_tools: { allow: [], deny: [] } },
    },
    [],
  )
  const io = {
    is_over: false,
    moreTime: () => undefined,
    ended: new Promise<void>(() => undefined),
    has_body: false,
    body: () => Promise.resolve(Buffer.alloc(0)),
    reserve: () => true,
    registerInFlight: () => undefined,
    leaveInFlight: () => undefined,
  }
  const decide = async (): Promise<string> => {
    const verdict = await decideCall(
      services,
      headers,
      io,
      beginRecord(headers, 'edge', () => 0),
    )
    return verdict.kind === 'forward' ? verdict.kind : JSON.stringify(verdict)
  }
  const isSigned = declared.application.kind === 'signature'
  return { type: declared.type, isSigned, decide, times: [] as number[] }
})

for (let round = -WARM_ROUNDS; round < Number(values.rounds); round++)
  for (const { decide, times } of rows) {
    const before = process.cpuUsage()
    for (let i = 0; i < CALLS_A_ROUND; i++) {
      const outcome = await decide()
      if (outcome !== 'forward') throw new Error(outcome)
    }
    const { user, system } = process.cpuUsage(before)
    if (round >= 0) times.push((user + system) / CALLS_A_ROUND)
  }

const medianOf = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
const bearer_us = medianOf(rows.find(({ type }) => type === 'bearer')?.times ?? [])
process.stdout.write('type                            µs  above bearer  of a whole call\n')
let isOver = false
for (const { type, isSigned, times } of rows) {
  const us = medianOf(times)
  const share = (us - bearer_us) / WHOLE_CALL_US
  isOver ||= !isSigned && share > SHARE_MAX
  const cells = [us.toFixed(1).padStart(8), (us - bearer_us).toFixed(1).padStart(14)]
  const shown = `${(share * 100).toFixed(1)} %${isSigned ? ' (signature)' : ''}`
  process.stdout.write(`${type.padEnd(26)}${cells.join('')}  ${shown.padStart(8)}\n`)
}
process.exitCode = isOver ? 1 : 0
