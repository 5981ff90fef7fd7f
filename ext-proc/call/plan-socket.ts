import { settingsToScan } from '../../core/inspection/settings-to-scan.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { BodyQuestions } from '../../core/inspection/read-body.ts'
import type { CallRecord } from '../record/call-record.ts'
import { judgeDecision } from '../record/judge-decision.ts'
import type { Denial } from '../verdict/denial.ts'
import type { Judge, SocketPlan } from '../verdict/socket-plan.ts'
import type { AdmittedCall } from './admit-call.ts'
import { busy } from './busy.ts'
import type { CallIo } from './call-io.ts'
import type { BodyServices } from './read-call-body.ts'
import { scanCall, type ScanServices } from './scan-call.ts'

export type SocketServices = ScanServices &
  Pick<BodyServices, 'settings'> & { readonly pool: Pick<ScanPool, 'readBody' | 'scanResponse'> }

/**
 * How the messages of an allowed WebSocket are scanned: those of the client as request bodies are, those of the API if the scope
 * scans responses.
 */
export function planSocket(
  services: SocketServices,
  call: AdmittedCall,
  io: CallIo,
  record: Pick<CallRecord, 'foundInResponse' | 'facts'>,
): SocketPlan {
  const { settings, integration } = call
  const { max_body_bytes } = services.settings
  const { enabled, scan_responses } = settings.injection
  if (!enabled) record.facts.data['unscanned'] = true
  let isKilled = false
  const killed = (): void => {
    isKilled = true
    io.leaveInFlight()
  }
  return {
    judge: {
      client: enabled ? judgeOfClient(services, call, io, killed, record) : null,
      api: enabled && scan_responses ? judgeOfApi(services, call, record) : null,
    },
    message_limit_bytes: Math.min(max_body_bytes, settings.max_body_bytes ?? max_body_bytes),
    base_url: integration.base.base_url,
    isKilled: () => isKilled,
  }
}

function judgeOfClient(
  services: SocketServices,
  call: AdmittedCall,
  io: CallIo,
  killed: () => void,
  record: Pick<CallRecord, 'foundInResponse'>,
): Judge {
  const { settings, agent } = call
  const { organization_id, agent_id } = agent
  const owner = { organization_id, agent_id, isGone: () => false }
  const questions: BodyQuestions = {
    content_type: '',
    content_encoding: null,
    limit_bytes: services.settings.max_body_bytes,
    identity: null,
    asks_overrides: false,
    keeps_body: true,
    json_rpc: null,
    // No shape of an API is that of a socket, so all words are those of a user.
    scan: { method: 'GET', base_path: '', path: '', query: '', headers: [] },
  }
  return async (payload) => {
    const patterns = settingsToScan(settings)
    const reading = services.pool.readBody(payload, questions, patterns, owner)
    const read = reading instanceof Promise ? await reading : reading
    if (read.kind === 'busy') return busy('body', read).denial
    const scan = await scanCall(services, call, read.facts, { leaveInFlight: killed })
    if (scan.kind === 'deny') return scan.denial
    if (scan.value !== null) record.foundInResponse(scan.value)
    return null
  }
}

function judgeOfApi(
  { pool, settings: { max_body_bytes } }: SocketServices,
  { settings }: AdmittedCall,
  record: Pick<CallRecord, 'foundInResponse'>,
): Judge {
  return async (payload) => {
    const input = { body: payload, content_type: null, content_encoding: null }
    const result = await pool.scanResponse(input, settingsToScan(settings), max_body_bytes)
    if (result.kind !== 'scanned') return NOT_SCANNED
    const judged = judgeDecision(result.decision, null)
    if (judged?.kind === 'deny') return judged.denial
    if (judged !== null) record.foundInResponse(judged.data)
    return null
  }
}

/** No process had time for it. */
const NOT_SCANNED: Denial = { reason: 'inspection_busy', details: {} }
