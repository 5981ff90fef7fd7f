import { deliveryTag } from '../../core/change/delivery-tag.ts'
import { mintActivityId } from '../../core/activity/activity-id.ts'
import type { CallEnd } from './end-of-call.ts'
import type { FinishedCall } from './read-access-log.ts'

/**
 * A line of the log: what was known when the call was allowed, and how it ended. Null if the text was not written by a
 * processor.
 */
export function lineOfCall(
  call: FinishedCall,
  end: CallEnd,
  now_ms: number,
): { readonly organization_id: string; readonly line: string } | null {
  const { facts } = call
  const first = facts.indexOf('\t')
  const second = facts.indexOf('\t', first + 1)
  const third = facts.indexOf('\t', second + 1)
  if (first < 0 || second < 0 || third < 0 || !facts.endsWith('}}')) return null
  const isRefused = end.decision !== 'allowed'
  const event = isRefused ? 'request_rejected' : facts.slice(first + 1, second)
  const delivered = !isRefused && facts.charAt(second + 1) === '1' ? deliveryTag(event) : ''
  const known = facts.slice(third + 2, -2)
  const isFirst = known.endsWith('{')
  return {
    organization_id: facts.slice(0, first),
    line:
      `${delivered}\t{"id":"${mintActivityId(now_ms)}","event":"${event}"` +
      `,"status":${call.status === 0 ? 'null' : call.status},"decision":"${end.decision}"` +
      `,"reason":${end.reason === null ? 'null' : `"${end.reason}"`}` +
      `,"duration_ms":${Math.round(call.duration_ms * 1000) / 1000}` +
      `,"bytes_in":${call.bytes_in},"bytes_out":${call.bytes_out},` +
      `${known}${isFirst ? '' : ','}${framesOf(call)}"upstream":${end.upstream}}}\n`,
  }
}

function framesOf({ frames }: FinishedCall): string {
  const [frames_in, frames_out] = /^\d+(?:,\d+)?$/.test(frames) ? frames.split(',') : []
  if (frames_in === undefined) return ''
  const more = frames_out === undefined ? '' : `,"frames_out":${frames_out}`
  return `"websocket":{"frames_in":${frames_in}${more}},`
}
