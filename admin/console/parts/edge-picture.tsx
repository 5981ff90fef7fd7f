import type { Kill } from '../api-types.ts'
import { countOf } from '../count-of.ts'

/** What a kill is held to, in ms; the picture is at least so wide. */
const LIMIT_MS = 100
/** Edges and cut calls that are drawn; the table has all edges. */
const EDGES_SHOWN = 24
const TICKS_MAX = 40

/** A kill or lock as a picture: how long each edge took, beside the limit, with a tick for each call that was cut. The table says the same. */
export function EdgePicture({ edges }: { edges: Kill['edges'] }) {
  const times = edges.flatMap(({ acknowledged_ms }) => acknowledged_ms ?? [])
  const top = Math.max(LIMIT_MS, ...times)
  const at = (ms: number): string => `${((ms / top) * 100).toFixed(2)}%`
  const shown = edges.toSorted(slowestFirst).slice(0, EDGES_SHOWN)
  if (shown.length === 0) return null
  return (
    <div class="edge-picture" role="img" aria-label={spoken(edges, times)}>
      {shown.map(({ edge_id, acknowledged_ms: ms, terminated }) => (
        <div key={edge_id} class="edge-row">
          <code title={edge_id}>{edge_id}</code>
          <div class="track">
            <div
              class={ms === null ? 'bar silent' : ms > LIMIT_MS ? 'bar late' : 'bar'}
              style={{ width: ms === null ? '100%' : at(ms) }}
            />
            <div class="limit" style={{ left: at(LIMIT_MS) }} />
          </div>
          <span class="took">{ms === null ? 'no answer' : `${ms.toFixed(1)} ms`}</span>
          <span class="ticks" title={countOf(terminated, 'call cut', 'calls cut')}>
            {terminated > 0 && `${terminated.toLocaleString()} `}
            {'|'.repeat(Math.min(terminated, TICKS_MAX))}
          </span>
        </div>
      ))}
      <div class="edge-row scale">
        <span />
        <div class="track">
          <span>0</span>
          <span style={{ right: `calc(100% - ${at(LIMIT_MS)})` }}>limit {LIMIT_MS} ms</span>
        </div>
        <span />
        <span>cut</span>
      </div>
      {edges.length > EDGES_SHOWN && (
        <p class="muted">
          The slowest {EDGES_SHOWN} of {edges.length}.
        </p>
      )}
    </div>
  )
}

const rank = (ms: number | null): number => ms ?? Number.POSITIVE_INFINITY
const slowestFirst = (a: Kill['edges'][number], b: Kill['edges'][number]): number =>
  rank(a.acknowledged_ms) === rank(b.acknowledged_ms)
    ? 0
    : rank(b.acknowledged_ms) - rank(a.acknowledged_ms)

function spoken(edges: Kill['edges'], times: readonly number[]): string {
  const cut = edges.reduce((sum, { terminated }) => sum + terminated, 0)
  const slowest =
    times.length === 0 ? '' : `, the slowest after ${Math.max(...times).toFixed(1)} ms`
  return `${times.length} of ${countOf(edges.length, 'edge')} acknowledged${slowest}; limit ${LIMIT_MS} ms; ${countOf(cut, 'call cut', 'calls cut')}.`
}
