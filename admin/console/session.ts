import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Role, Who } from './api-types.ts'

export const SessionContext = createContext<Who | null>(null)

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 }

/** Whether to show actions that need a role. The server decides; this only hides what it would refuse. */
export function useMay(role: Role): boolean {
  return useRights()(role)
}

/** The same for any number of roles. */
export function useRights(): (role: Role) => boolean {
  const who = useContext(SessionContext)
  return (role) => who !== null && RANK[who.role] >= RANK[role]
}
