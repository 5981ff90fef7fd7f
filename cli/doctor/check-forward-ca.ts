import { counted } from '../terminal/counted.ts'
import type { ask } from './ask.ts'
import { failed, type CheckResult, ok, warning } from './check-result.ts'

const DAY_MS = 86_400_000
/** Every client needs the next CA before this one ends. */
const CA_NOTICE_DAYS = 30
const CHECK = 'forward CA'

interface Ca {
  readonly source: 'store' | 'files'
  readonly certificates: readonly {
    readonly role: 'current' | 'next' | 'previous'
    readonly sha256: string
    readonly not_after: string
  }[]
  readonly rotation_since?: string | null
}

interface CaEdge {
  readonly edge_id: string
  readonly forward_ca?: string | null
}

/** The CA of the forward proxy; nothing where there is none. `answer` is that of GET /admin/ca. */
export function checkForwardCa(
  { status, body }: Pick<Awaited<ReturnType<typeof ask>>, 'status' | 'body'>,
  edges: readonly CaEdge[],
  now: Date,
): CheckResult[] {
  if (status !== 200) return []
  const { source, certificates, rotation_since } = body as Ca
  const current = certificates.find(({ role }) => role === 'current')
  if (current === undefined) return []
  const problems = [
    ...endResults(current.not_after, source, now),
    ...rotationResults(certificates, rotation_since ?? null),
    ...edgeResults(current.sha256, source, edges),
  ]
  if (problems.length > 0) return problems
  return [
    ok(
      CHECK,
      `valid until ${current.not_after.slice(0, 10)}, no edge issues certificates with another`,
    ),
  ]
}

function endResults(not_after: string, source: Ca['source'], now: Date): CheckResult[] {
  const left_ms = Date.parse(not_after) - now.getTime()
  const until = not_after.slice(0, 10)
  const advice =
    source === 'store'
      ? 'Replace it: agw ca rotate prepare.'
      : 'Replace AGW_CA_CERT_FILE and AGW_CA_KEY_FILE.'
  if (left_ms < 0) return [failed(CHECK, `expired on ${until}`, advice)]
  const days = Math.floor(left_ms / DAY_MS)
  return days < CA_NOTICE_DAYS
    ? [warning(CHECK, `expires in ${counted(days, 'day')}, on ${until}`, advice)]
    : []
}

function rotationResults(certificates: Ca['certificates'], since: string | null): CheckResult[] {
  const when = since === null ? '' : `, since ${since}`
  const has = (wanted: string): boolean => certificates.some(({ role }) => role === wanted)
  return [
    ...(has('next')
      ? [
          warning(
            CHECK,
            `a rotation is not finished: the next CA is prepared and not in use${when}`,
            'When every client trusts it: agw ca rotate activate.',
          ),
        ]
      : []),
    ...(has('previous')
      ? [
          warning(
            CHECK,
            `a rotation is not finished: clients still get the previous CA${when}`,
            'When every client trusts the current one: agw ca rotate finish.',
          ),
        ]
      : []),
  ]
}

/** An edge that has issued no certificate yet reads the CA when it needs it. */
function edgeResults(
  current: string,
  source: Ca['source'],
  edges: readonly CaEdge[],
): CheckResult[] {
  return edges.flatMap(({ edge_id, forward_ca = null }) =>
    forward_ca === null || forward_ca === current
      ? []
      : [
          warning(
            CHECK,
            `edge ${edge_id} issues certificates with another CA (SHA-256 ${forward_ca.slice(0, 16)}…)`,
            source === 'store'
              ? 'Unset AGW_CA_CERT_FILE there, or set it for all processes. Clients that fetch /ca.pem do not trust that CA.'
              : 'Give all processes the same AGW_CA_CERT_FILE. Clients that fetch /ca.pem do not trust that CA.',
          ),
        ],
  )
}
