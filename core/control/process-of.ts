/** The id of an edge's process: unique to it. A process of version 0.1 has only its name. */
export const processOf = (edge: {
  readonly edge_id: string
  readonly process_id?: string
}): string => edge.process_id ?? edge.edge_id
