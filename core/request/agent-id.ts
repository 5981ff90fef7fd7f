/** The ids that agents can have: safe in Redis, headers and paths, with one spelling per id. */
export const AGENT_ID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$'

const AGENT_ID = new RegExp(AGENT_ID_PATTERN)

export const isAgentId = (text: string): boolean => AGENT_ID.test(text)
