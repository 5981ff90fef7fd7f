import { type ApiAnswer, ask } from './api.ts'
import type { Edge, Page } from './api-types.ts'

/** The number of live edges. The service answers a change when it is in force on all of them; the number is for the operator. */
export async function liveEdges(): Promise<ApiAnswer<number>> {
  const edges = await ask<Page<Edge>>('GET', '/admin/edges')
  return edges.ok ? { ok: true, value: edges.value.data.length, etag: null } : edges
}
