import { withQuery } from './api.ts'
import type { Agent, Integration, Page } from './api-types.ts'
import { useLoad } from './use-load.ts'

/** The page size of the API; resources beyond it are shown by id. */
const KNOWN = '200'

/** The names of agents or integrations by their ids. */
export function useNames(kind: 'agents' | 'integrations'): (id: string) => string {
  const { value } = useLoad<Page<Partial<Agent & Integration>>>(
    withQuery(`/admin/${kind}`, { limit: KNOWN }),
  )
  return (id) => {
    const one = value?.data.find((item) => (item.agent_id ?? item.integration_id) === id)
    return one?.agent_name ?? one?.name ?? id
  }
}
