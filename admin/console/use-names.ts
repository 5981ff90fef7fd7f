import { useMemo } from 'preact/hooks'
import { withQuery } from './api.ts'
import type { Agent, Integration, Page } from './api-types.ts'
import { useLoad } from './use-load.ts'

/** The page size of the API; resources beyond it are shown by id. */
const KNOWN = '200'

/** The names of agents or integrations by their ids; with null none are read. */
export function useNames(kind: 'agents' | 'integrations' | null): (id: string) => string {
  const { value } = useLoad<Page<Partial<Agent & Integration>>>(
    kind === null ? null : withQuery(`/admin/${kind}`, { limit: KNOWN }),
  )
  return useMemo(() => {
    const names = new Map(
      value?.data.map((one) => [one.agent_id ?? one.integration_id, one.agent_name ?? one.name]),
    )
    return (id) => names.get(id) ?? id
  }, [value])
}
